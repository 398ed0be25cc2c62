#include "grading/verdict/run_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/verdict/trace_json.h"
#include "submission/wire/counters_json.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "shardlings run 1";

/// Counters and trace of a rank; a run that failed may have left counters without traces.
Json rank_to_json(const CaseVerdict& kase, std::size_t rank) {
  Json json = {{"counters", Json(wire::counters_to_json(kase.counters[rank]))}};
  if (rank < kase.traces.size()) {
    json["trace"] = trace_to_json(kase.traces[rank], static_cast<int>(rank), static_cast<int>(kase.counters.size()));
  }
  return json;
}

/// [{"ranks": [0, 1, 3], "counters": …, "trace": …}, …]: each different one once.
Json ranks_to_json(const CaseVerdict& kase) {
  Json list = Json::array();
  for (std::size_t rank = 0; rank < kase.counters.size(); ++rank) {
    const Json json = rank_to_json(kase, rank);
    const auto same = [&](const Json& other) {
      return other.at("counters") == json.at("counters") && other.value("trace", Json()) == json.value("trace", Json());
    };
    auto found = std::find_if(list.begin(), list.end(), same);
    if (found == list.end()) {
      list.push_back({{"ranks", Json::array()}});
      list.back().update(json);
      found = std::prev(list.end());
    }
    (*found)["ranks"].push_back(rank);
  }
  return list;
}

std::size_t number_of_ranks(const Json& list) {
  std::size_t ranks = 0;
  for (const Json& item : list) ranks += item.at("ranks").size();
  return ranks;
}

void ranks_from_json(const Json& list, CaseVerdict& kase) {
  const std::size_t ranks = number_of_ranks(list);
  kase.counters.resize(ranks);
  for (const Json& item : list) {
    for (const Json& entry : item.at("ranks")) {
      const auto rank = entry.get<std::size_t>();
      if (rank >= ranks) throw std::runtime_error("it has ranks that do not exist");
      kase.counters[rank] = wire::counters_from_json(nlohmann::json(item.at("counters")));
      if (!item.contains("trace")) continue;
      kase.traces.resize(ranks);
      kase.traces[rank] = trace_from_json(item.at("trace"), static_cast<int>(rank), static_cast<int>(ranks));
    }
  }
}

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

std::string run_to_text(const Verdict& run) {
  Verdict plain = run;
  for (CaseVerdict& kase : plain.cases) kase.counters.clear();
  Json json = {{"format", kFormat}};
  json.update(Json::parse(to_json(plain, -1)));
  if (run.backend == "cpu") json.erase("backend");  // which a run has that names none
  for (std::size_t i = 0; i < run.cases.size(); ++i) json["cases"][i]["ranks"] = ranks_to_json(run.cases[i]);
  return json.dump(0, ' ', false, Json::error_handler_t::replace) + "\n";
}

Verdict run_from_text(const std::string& text) try {
  const Json json = Json::parse(text);
  if (json.value("format", "") != kFormat) throw std::runtime_error("its format is another one");
  Verdict run = verdict_from_json(text);
  for (std::size_t i = 0; i < run.cases.size(); ++i) ranks_from_json(json.at("cases")[i].at("ranks"), run.cases[i]);
  return run;
} catch (const std::exception& error) {
  throw std::runtime_error(fmt::format("this is no run of Shardlings: {}", error.what()));
}

Verdict goal_of(const Verdict& run) {
  Verdict goal;
  goal.puzzle = run.puzzle;
  goal.status = run.status;
  goal.passed = run.passed;
  for (const CaseVerdict& kase : run.cases) goal.cases.push_back(goal_of(kase));
  return goal;
}

}  // namespace shardlings::grading::verdict
