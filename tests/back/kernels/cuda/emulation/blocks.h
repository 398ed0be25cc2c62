/// \file
/// Runs the threads of CUDA kernels on one processor.
///
/// Each thread of a block is a fiber, which goes on until it has to wait for others of its block or warp; blocks follow
/// one another. Threads start in either direction by turns, so that a thread that forgot to wait is found out. A wait
/// that not all can reach ends the program, with a sentence: on a GPU it would hang or be undefined.
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace shardlings::emulation {

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel);

}  // namespace shardlings::emulation
