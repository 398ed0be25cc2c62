#include "report/measured.h"

#include <algorithm>
#include <utility>

namespace shardlings::report {

front::RankTrace measured_trace(const front::RankTrace& trace) {
  front::RankTrace measured;
  measured.names = trace.names;
  measured.groups = trace.groups;
  measured.members = trace.members;
  measured.files = trace.files;
  for (front::Event event : trace.events) {
    if (event.measured_begin < Nanos(0)) continue;
    event.begin = event.measured_begin;
    event.end = std::max(event.measured_begin, event.measured_end);
    event.posted = event.begin;
    measured.events.push_back(event);
  }
  return measured;
}

std::vector<front::RankTrace> measured_traces(const std::vector<front::RankTrace>& traces) {
  std::vector<front::RankTrace> measured;
  for (const front::RankTrace& trace : traces) measured.push_back(measured_trace(trace));
  const bool any =
      std::any_of(measured.begin(), measured.end(), [](const auto& trace) { return !trace.events.empty(); });
  return any ? measured : std::vector<front::RankTrace>();
}

std::optional<grading::verdict::Verdict> measured_run(const grading::verdict::Verdict& run) {
  grading::verdict::Verdict measured = run;
  for (grading::verdict::CaseVerdict& kase : measured.cases) kase.traces = measured_traces(kase.traces);
  std::erase_if(measured.cases, [](const grading::verdict::CaseVerdict& kase) { return kase.traces.empty(); });
  if (measured.cases.empty()) return std::nullopt;
  return measured;
}

}  // namespace shardlings::report
