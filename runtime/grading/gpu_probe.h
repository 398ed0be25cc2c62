/// \file
/// What a small program beside the command prints about GPUs: a machine in one line of JSON.
#pragma once

#include <string>

#include "front/backend.h"
#include "shardlings/export.h"

namespace shardlings::grading {

std::string to_json(const front::Machine& machine);
/// Throws std::runtime_error if the text is not what to_json() wrote.
front::Machine machine_from_json(const std::string& text);

/// The program's main function.
SHARDLINGS_API int gpu_probe_main();

}  // namespace shardlings::grading
