#include "back/kernels/cuda/lane.h"

#include <vector>

#include "back/kernels/cuda/check.h"

namespace shardlings::back::cuda {
namespace {

// An event: number of its lane, from 1, and the number of the point in it.
constexpr unsigned kLaneShift = 40;
constexpr std::uint64_t kPoint = (std::uint64_t{1} << kLaneShift) - 1;

/// All lanes of this process, by number.
class Lanes {
 public:
  std::uint64_t add(const std::shared_ptr<EventRing>& events) {
    const MutexLock guard(lock_);
    rings_.push_back(events);
    return rings_.size();
  }
  std::shared_ptr<EventRing> find(std::uint64_t number) {
    const MutexLock guard(lock_);
    return number >= 1 && number <= rings_.size() ? rings_[number - 1].lock() : nullptr;
  }

 private:
  Mutex lock_;
  std::vector<std::weak_ptr<EventRing>> rings_ GUARDED_BY(lock_);
};

Lanes& lanes() {
  static Lanes all;
  return all;
}

}  // namespace

EventRing::EventRing(cudaStream_t stream) : stream_(stream) {
  for (cudaEvent_t& event : events_) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
}

EventRing::~EventRing() {
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
}

std::uint64_t EventRing::record() {
  const MutexLock guard(lock_);
  check(cudaEventRecord(events_[next_ % kEvents], stream_), "cudaEventRecord");
  return next_++;
}

void EventRing::let_wait(cudaStream_t other, std::uint64_t number) {
  const MutexLock guard(lock_);
  check(cudaStreamWaitEvent(other, events_[number % kEvents], 0), "cudaStreamWaitEvent");
}

Lane::Lane(bool high_priority) {
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high_priority ? greatest : least),
        "cudaStreamCreateWithPriority");
  events_ = std::make_shared<EventRing>(stream_);
  number_ = lanes().add(events_);
}

Lane::~Lane() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

DeviceEvent Lane::record() {
  return (number_ << kLaneShift) | (events_->record() & kPoint);
}

void Lane::wait(DeviceEvent event) {
  if (const auto ring = lanes().find(event >> kLaneShift)) ring->let_wait(stream_, event & kPoint);
}

}  // namespace shardlings::back::cuda
