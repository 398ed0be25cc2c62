/// \file
/// When the work of a device's streams really began and ended.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <vector>

#include "back/kernels/kernels.h"
#include "base/mutex.h"

namespace shardlings::back::cuda {

/// A moment that is known both to the GPU and to the host.
struct BaseTime {
  cudaEvent_t event = nullptr;
  std::int64_t host = 0;  ///< nanoseconds of the steady clock

  /// The moment when the stream is there and idle.
  explicit BaseTime(cudaStream_t stream);
  ~BaseTime();
  BaseTime(const BaseTime&) = delete;
  BaseTime& operator=(const BaseTime&) = delete;
};

class Clock {
 public:
  explicit Clock(int gpu) : gpu_(gpu) {}
  ~Clock();

  /// Forgets all marks. `stream`: of the GPU, as those of all marks. Clocks of one GPU that are started within a tenth
  /// of a second count from the same moment, so that their ranks' times fit each other.
  void start(cudaStream_t stream);
  /// The present end of a stream; 0 before start(). From any thread.
  DeviceMark mark(cudaStream_t stream);
  /// By the host's steady clock; waits until the stream is there. Nothing if the GPU has failed.
  std::optional<Nanos> time_of(DeviceMark mark);

 private:
  int gpu_;
  Mutex lock_;
  std::shared_ptr<const BaseTime> base_ GUARDED_BY(lock_);
  std::uint64_t generation_ GUARDED_BY(lock_) = 0;     ///< how often it was started
  std::vector<cudaEvent_t> events_ GUARDED_BY(lock_);  ///< used again after every start
  std::size_t used_ GUARDED_BY(lock_) = 0;
};

}  // namespace shardlings::back::cuda
