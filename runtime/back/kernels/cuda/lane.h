/// \file
/// A lane of a device: a CUDA stream, and the points of its work that others wait for.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <memory>

#include "back/kernels/kernels.h"
#include "base/mutex.h"

namespace shardlings::back::cuda {

/// The events of a stream, used over and over. A lane that waits for a point whose event has been recorded again since
/// waits for a later point of the same stream: longer than needed, but never in a circle, for all that had been
/// enqueued when that was recorded was there before.
class EventRing {
 public:
  /// Of a stream of the current GPU.
  explicit EventRing(cudaStream_t stream);
  ~EventRing();
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  /// Numbers the stream's present end, from 0. Called from any thread, as is the next.
  std::uint64_t record();
  void let_wait(cudaStream_t other, std::uint64_t number);

 private:
  static constexpr std::size_t kEvents = 256;
  cudaStream_t stream_;
  Mutex lock_;
  std::array<cudaEvent_t, kEvents> events_ GUARDED_BY(lock_){};
  std::uint64_t next_ GUARDED_BY(lock_) = 0;
};

class Lane {
 public:
  /// On the current GPU. A higher priority: its kernels come before others that are ready.
  explicit Lane(bool high_priority);
  /// Waits for its work.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  cudaStream_t stream() const { return stream_; }
  DeviceEvent record();
  /// An event of any lane of this process. Nothing happens for 0, and for lanes that are gone: their work is done.
  void wait(DeviceEvent event);

 private:
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<EventRing> events_;
  std::uint64_t number_ = 0;
};

}  // namespace shardlings::back::cuda
