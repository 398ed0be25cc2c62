/// \file
/// What the ranks of one case have shown, once for all ranks that showed the same.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "front/trace/run_report.h"

namespace shardlings::grading::verdict {

/// One show, and all ranks that made it at that point of their programs.
struct ShownByRanks {
  std::vector<int> ranks;
  front::Shown what;
};

/// Each rank's shows in the order of its program. Ranks take turns, so that the first of all ranks come before the
/// second of any.
std::vector<ShownByRanks> by_ranks(const std::vector<front::RankReport>& ranks);

nlohmann::ordered_json shown_to_json(const std::vector<ShownByRanks>& shown);
/// Throws nlohmann::json::exception or std::runtime_error where the JSON is not what shown_to_json() wrote.
std::vector<ShownByRanks> shown_from_json(const nlohmann::ordered_json& json);

}  // namespace shardlings::grading::verdict
