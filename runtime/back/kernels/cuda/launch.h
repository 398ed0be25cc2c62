/// \file
/// Where kernels run, and how they are launched.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "back/kernels/cuda/check.h"
#include "back/kernels/cuda/geometry.h"
#include "back/kernels/kernel_ids.h"

namespace shardlings::back::cuda {

class Blas;

/// A lane as kernels see it. Only the compute lane multiplies matrices.
struct LaneContext {
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
  Blas* blas = nullptr;
};

using KernelFunction = void (*)(const Kernel&, const LaneContext&);

/// Memory for the length of one computation, in the lane's order: neither end waits for anything. Not counted, as a
/// library's workspace is not the learner's either.
class Scratch {
 public:
  Scratch(const LaneContext& lane, Count bytes) : stream_(lane.stream) {
    if (bytes == 0) return;
    check(cudaMallocFromPoolAsync(&memory_, static_cast<std::size_t>(bytes), lane.pool, stream_),
          "cudaMallocFromPoolAsync");
  }
  ~Scratch() {
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

template <class... Parameters, class... Arguments>
void enqueue(const LaneContext& lane, Grid grid, void (*kernel)(Parameters...), Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid.x, grid.y, 1);
  config.blockDim = dim3(grid.threads, 1, 1);
  config.stream = lane.stream;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...),
        "cudaLaunchKernelEx");
}

template <class T>
T* out(const Kernel& k, int i) {
  return static_cast<T*>(k.out[i]);
}
template <class T>
const T* in(const Kernel& k, int i) {
  return static_cast<const T*>(k.in[i]);
}

}  // namespace shardlings::back::cuda
