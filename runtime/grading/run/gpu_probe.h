/// \file
/// What a small program beside the command prints about GPUs: a machine in one line of JSON.
#pragma once

#include <string>

#include "shardlings/export.h"
#include "world/backend.h"

namespace shardlings::grading::run {

std::string to_json(const world::Machine& machine);
/// Throws std::runtime_error if the text is not what to_json() wrote.
world::Machine machine_from_json(const std::string& text);

/// The program's main function.
SHARDLINGS_API int gpu_probe_main();

}  // namespace shardlings::grading::run
