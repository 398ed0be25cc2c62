/// \file
/// Counters and failures as JSON, for the submission's result and for the verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "front/trace/counters.h"
#include "front/trace/failure.h"

namespace shardlings::wire {

nlohmann::json counters_to_json(const front::Counters& counters);
/// Throws nlohmann::json::exception or std::runtime_error where the JSON is not what counters_to_json() wrote.
front::Counters counters_from_json(const nlohmann::json& json);

nlohmann::json failure_to_json(const front::Failure& failure);
front::Failure failure_from_json(const nlohmann::json& json);

}  // namespace shardlings::wire
