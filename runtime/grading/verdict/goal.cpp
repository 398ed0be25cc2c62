#include "grading/verdict/goal.h"

#include <algorithm>

namespace shardlings::grading::verdict {
namespace {

front::MemoryPoint higher(const front::MemoryPoint& a, const front::MemoryPoint& b) {
  const auto total = [](const front::MemoryPoint& point) {
    Bytes sum;
    for (const Bytes live : point.live) sum += live;
    return sum;
  };
  return total(b) > total(a) ? b : a;
}

/// Of each instant the highest and the last point.
std::vector<front::MemoryPoint> thinned(const std::vector<front::MemoryPoint>& memory) {
  std::vector<front::MemoryPoint> thin;
  for (std::size_t begin = 0, end = 0; begin < memory.size(); begin = end) {
    front::MemoryPoint highest = memory[begin];
    for (end = begin; end < memory.size() && memory[end].time == memory[begin].time; ++end) {
      highest = higher(highest, memory[end]);
    }
    thin.push_back(highest);
    if (memory[end - 1].live != highest.live) thin.push_back(memory[end - 1]);
  }
  return thin;
}

front::RankTrace outline(const front::RankTrace& trace) {
  front::RankTrace out;
  out.groups = trace.groups;
  out.memory = thinned(trace.memory);
  for (front::Event event : trace.events) {
    if (event.depth > 0) continue;
    const std::string& name = trace.names.at(event.name);
    const auto found = std::find(out.names.begin(), out.names.end(), name);
    event.name = static_cast<std::uint16_t>(found - out.names.begin());
    if (found == out.names.end()) out.names.push_back(name);
    event.at = {};
    event.order = 0;
    event.measured_begin = event.measured_end = Nanos(-1);
    if (event.kind == front::EventKind::collective) event.peer = -1;
    out.events.push_back(event);
  }
  return out;
}

CaseVerdict goal_of(const CaseVerdict& run) {
  CaseVerdict goal;
  goal.kase = run.kase;
  goal.ending = run.ending;
  goal.counters = run.counters;
  for (front::Counters& counters : goal.counters) {
    counters.peak_file.clear();
    counters.peak_line = 0;
  }
  for (const front::RankTrace& trace : run.traces) goal.traces.push_back(outline(trace));
  for (const CheckVerdict& check : run.checks) {
    if (check.bounds.empty()) continue;  // the reference is not in here
    goal.checks.push_back({});
    goal.checks.back().id = check.id;
    goal.checks.back().case_name = check.case_name;
    goal.checks.back().passed = check.passed;
    goal.checks.back().bounds = check.bounds;
  }
  return goal;
}

}  // namespace

Verdict goal_of(const Verdict& run) {
  Verdict goal;
  goal.puzzle = run.puzzle;
  goal.status = run.status;
  goal.passed = run.passed;
  for (const CaseVerdict& kase : run.cases) goal.cases.push_back(goal_of(kase));
  return goal;
}

}  // namespace shardlings::grading::verdict
