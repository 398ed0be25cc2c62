/// \file
/// Traces as JSON that people can read the differences of: one line of text for each column of events. Columns that are
/// as usual (depth 0, no group, no peer, …) are left out.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "front/trace/event.h"

namespace shardlings::grading::verdict {

/// `rank` of `ranks`: peers are written relative to it, so that ranks that do the same have the same trace.
nlohmann::ordered_json trace_to_json(const front::RankTrace& trace, int rank, int ranks);
/// Throws nlohmann::json::exception or std::runtime_error where the JSON is not what trace_to_json() wrote; what it
/// returns is consistent (every index inside its table), whatever the JSON was.
front::RankTrace trace_from_json(const nlohmann::ordered_json& json, int rank, int ranks);

}  // namespace shardlings::grading::verdict
