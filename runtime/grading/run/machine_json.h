/// \file
/// A machine in one line of JSON.
#pragma once

#include <string>

#include "world/machine.h"

namespace shardlings::grading::run {

std::string to_json(const world::Machine& machine);
/// Throws std::runtime_error if the text is not what to_json() wrote.
world::Machine machine_from_json(const std::string& text);

}  // namespace shardlings::grading::run
