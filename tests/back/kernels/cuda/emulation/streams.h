/// \file
/// Streams of the emulated runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "support/fake_gpu_lane.h"

struct CUstream_st {
  shardlings::support::FakeLane lane;
  std::uint64_t random = 0;  ///< used by the lane's thread
};

namespace shardlings::emulation {

/// Appends to the stream; begins late if streams are delayed.
void enqueue(cudaStream_t stream, std::function<void()> task);

}  // namespace shardlings::emulation
