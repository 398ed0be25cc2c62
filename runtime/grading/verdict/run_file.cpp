#include "grading/verdict/run_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grading/verdict/run_layout.h"
#include "grading/verdict/shortened.h"
#include "grading/verdict/trace_json.h"
#include "submission/wire/counters_json.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "shardlings run 2";
/// The same with everything written out.
constexpr const char* kFirstFormat = "shardlings run 1";

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

Json run_to_json(const Verdict& run) {
  Verdict plain = run;
  for (CaseVerdict& kase : plain.cases) kase.counters.clear();
  Json json = {{"format", kFormat}};
  json.update(Json::parse(to_json(plain, -1)));
  for (std::size_t i = 0; i < run.cases.size(); ++i) json["cases"][i]["ranks"] = ranks_to_json(run.cases[i]);
  return json;
}

}  // namespace

std::string run_to_text(const Verdict& run) {
  return run_lines(shortened(run_to_json(run)));
}

std::string goal_to_text(const Verdict& goal, const std::string& clusters_folder) {
  return run_lines(shortened(run_to_json(goal), clusters_folder));
}

Verdict run_from_text(const std::string& text, const std::string& clusters_folder) try {
  const Json file = Json::parse(text);
  const std::string format = file.value("format", "");
  if (format != kFormat && format != kFirstFormat) throw std::runtime_error("its format is another one");
  const Json json = written_out(file, clusters_folder);
  Verdict run = verdict_from_json(json.dump());
  for (std::size_t i = 0; i < run.cases.size(); ++i) ranks_from_json(json.at("cases")[i].at("ranks"), run.cases[i]);
  return run;
} catch (const std::exception& error) {
  throw std::runtime_error(fmt::format("this is no run of Shardlings: {}", error.what()));
}

}  // namespace shardlings::grading::verdict
