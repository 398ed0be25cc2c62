#include "back/kernels/cuda/clock.h"

#include <chrono>
#include <cmath>
#include <map>

#include "back/kernels/cuda/check.h"

namespace shardlings::back::cuda {
namespace {

// A mark: how often the clock had been started, and the number of its event, from 1.
constexpr unsigned kGenerationShift = 40;
constexpr std::uint64_t kNumber = (std::uint64_t{1} << kGenerationShift) - 1;

std::int64_t host_time() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The latest base time of each GPU.
struct BaseTimes {
  Mutex lock;
  std::map<int, std::shared_ptr<const BaseTime>> of_gpu GUARDED_BY(lock);
};

BaseTimes& base_times() {
  static BaseTimes known;
  return known;
}

}  // namespace

BaseTime::BaseTime(cudaStream_t stream) {
  check(cudaEventCreate(&event), "cudaEventCreate");
  // Twice: the first may wait for work that is still under way, the second passes an idle stream at once.
  for (int i = 0; i < 2; ++i) {
    check(cudaEventRecord(event, stream), "cudaEventRecord");
    check(cudaEventSynchronize(event), "cudaEventSynchronize");
  }
  host = host_time();
}

BaseTime::~BaseTime() {
  cudaEventDestroy(event);
}

Clock::~Clock() {
  for (const cudaEvent_t event : events_) cudaEventDestroy(event);
}

void Clock::start(cudaStream_t stream) {
  constexpr std::int64_t kShared = 100'000'000;
  const MutexLock guard(lock_);
  BaseTimes& known = base_times();
  const MutexLock all(known.lock);
  std::shared_ptr<const BaseTime>& latest = known.of_gpu[gpu_];
  if (!latest || host_time() - latest->host > kShared) latest = std::make_shared<const BaseTime>(stream);
  base_ = latest;
  ++generation_;
  used_ = 0;
}

DeviceMark Clock::mark(cudaStream_t stream) {
  const MutexLock guard(lock_);
  if (generation_ == 0) return 0;
  if (used_ == events_.size()) {
    cudaEvent_t made = nullptr;
    check(cudaEventCreate(&made), "cudaEventCreate");
    events_.push_back(made);
  }
  check(cudaEventRecord(events_[used_], stream), "cudaEventRecord");
  return (generation_ << kGenerationShift) | ++used_;
}

std::optional<Nanos> Clock::time_of(DeviceMark mark) {
  const MutexLock guard(lock_);
  const std::uint64_t number = mark & kNumber;
  if (mark >> kGenerationShift != generation_ || number == 0 || number > used_) return std::nullopt;
  const cudaEvent_t event = events_[number - 1];
  float milliseconds = 0;
  const bool known = cudaEventSynchronize(event) == cudaSuccess &&
                     cudaEventElapsedTime(&milliseconds, base_->event, event) == cudaSuccess;
  if (!known) return std::nullopt;  // the GPU has failed, as reading its results will say
  return Nanos(base_->host + std::llround(static_cast<double>(milliseconds) * 1e6));
}

}  // namespace shardlings::back::cuda
