// Streams, events and launches.
#include "back/kernels/cuda/emulation/streams.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "back/kernels/cuda/emulation/blocks.h"
#include "back/kernels/cuda/emulation/emulation.h"
#include "base/random.h"

/// Once recorded, the point of a stream that it stands for.
struct Point {
  std::shared_ptr<shardlings::support::LaneProgress> progress;
  std::uint64_t number = 0;
  std::atomic<std::int64_t> reached{0};  ///< when, in nanoseconds; 0: not yet
};

struct CUevent_st {
  std::mutex lock;
  std::shared_ptr<Point> point;
  bool times = true;
};

namespace shardlings::emulation {
namespace {

std::atomic<int> most_delay{0};
std::atomic<std::uint64_t> delay_seed{0};

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void delay(CUstream_st& stream) {
  const int most = most_delay;
  if (most == 0) return;
  const std::uint32_t dice = random_word_at(delay_seed, ++stream.random, reinterpret_cast<std::uintptr_t>(&stream));
  if (dice % 4 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(dice / 4 % (static_cast<unsigned>(most) + 1)));
  if (dice % 4 == 1) std::this_thread::yield();
}

std::shared_ptr<Point> point_of(cudaEvent_t event) {
  const std::lock_guard guard(event->lock);
  return event->point;
}

/// All streams of the process, for cudaDeviceSynchronize.
struct Streams {
  std::mutex lock;
  std::set<cudaStream_t> all;
};
Streams& streams() {
  static Streams known;
  return known;
}

}  // namespace

void enqueue(cudaStream_t stream, std::function<void()> task) {
  stream->lane.enqueue([stream, task = std::move(task)] {
    delay(*stream);
    task();
  });
}

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> kernel) {
  enqueue(config.stream, [grid = config.gridDim, block = config.blockDim, kernel = std::move(kernel)] {
    run_grid(grid, block, kernel);
  });
  return cudaSuccess;
}

void delay_streams(std::uint64_t seed, int max_us) {
  delay_seed = seed;
  most_delay = max_us;
}

}  // namespace shardlings::emulation

using shardlings::emulation::streams;

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard guard(streams().lock);
  for (const cudaStream_t stream : streams().all) stream->lane.drain();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = new CUstream_st;
  const std::lock_guard guard(streams().lock);
  streams().all.insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    const std::lock_guard guard(streams().lock);
    streams().all.erase(stream);
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->lane.drain();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  shardlings::emulation::enqueue(stream, [function, data] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  cudaEventCreate(event);
  (*event)->times = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  auto point = std::make_shared<Point>();
  point->progress = stream->lane.progress();
  point->number = stream->lane.enqueue([point] { point->reached = shardlings::emulation::now(); });
  const std::lock_guard guard(event->lock);
  event->point = std::move(point);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto point = shardlings::emulation::point_of(event)) point->progress->await(point->number);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto point = shardlings::emulation::point_of(event);
  return !point || point->reached != 0 ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const auto from = shardlings::emulation::point_of(begin);
  const auto to = shardlings::emulation::point_of(end);
  if (!begin->times || !end->times || !from || !to) return cudaErrorInvalidValue;
  if (from->reached == 0 || to->reached == 0) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(to->reached - from->reached) * 1e-6F;
  return cudaSuccess;
}

// An event that nobody has recorded is nothing to wait for.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto point = shardlings::emulation::point_of(event);
  if (point) stream->lane.enqueue([point] { point->progress->await(point->number); });
  return cudaSuccess;
}
