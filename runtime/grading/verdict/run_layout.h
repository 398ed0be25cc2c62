/// \file
/// The lines of a run file: what people compare stands on a line of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace shardlings::grading::verdict {

/// JSON with a line for each case, check, bound, block of counters and column of a trace.
std::string run_lines(const nlohmann::ordered_json& run);

}  // namespace shardlings::grading::verdict
