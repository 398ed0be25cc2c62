/// \file
/// A small program beside the command, which prints what GPUs and libraries this machine has (machine_json.h): asking
/// leaves a driver in the process.
#pragma once

#include "shardlings/export.h"

namespace shardlings::grading::run {

/// The program's main function.
SHARDLINGS_API int gpu_probe_main();

}  // namespace shardlings::grading::run
