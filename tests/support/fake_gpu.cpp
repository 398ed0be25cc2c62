#include "support/fake_gpu.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "back/kernels/kernel_ids.h"
#include "support/fake_gpu_lane.h"
#include "support/fake_gpu_memory.h"

namespace shardlings::support {

using back::DeviceEvent;
using back::DeviceLane;
using back::DeviceMark;
using back::Kernel;

/// What devices share: memory, the lanes' progress for events, and what went wrong.
struct FakeGpus::System {
  explicit System(const FakeGpuOptions& settings) : options(settings) {}

  std::size_t add_lane(std::shared_ptr<LaneProgress> progress) {
    const std::lock_guard guard(lock);
    lanes.push_back(std::move(progress));
    return lanes.size() - 1;
  }
  std::shared_ptr<LaneProgress> lane(std::size_t index) {
    const std::lock_guard guard(lock);
    return index < lanes.size() ? lanes[index] : nullptr;
  }
  void fault(const std::string& sentence) {
    const std::lock_guard guard(lock);
    faults.push_back(sentence);
  }
  /// Every lane passes here before each of its tasks.
  void pass_gate() {
    std::unique_lock guard(lock);
    opened.wait(guard, [&] { return !paused; });
  }

  /// The block at an address of either memory.
  FakeMemory::Place find(const void* address) const {
    FakeMemory::Place place = memory.find(address);
    return place.block ? place : host_memory.find(address);
  }

  const FakeGpuOptions options;
  FakeMemory memory{FakeMemory::kDevice};
  FakeMemory host_memory{FakeMemory::kHost};
  std::mutex lock;
  std::condition_variable opened;
  bool paused = false;
  std::vector<std::shared_ptr<LaneProgress>> lanes;
  std::vector<std::string> faults;
  std::atomic<std::int64_t> kernels{0};
  std::atomic<int> devices{0};
};

namespace {

using Memory = FakeMemory FakeGpus::System::*;

/// Which memory the kernels of a lane read and write.
Memory memory_read_by(DeviceLane lane) {
  return lane == DeviceLane::to_device || lane == DeviceLane::host ? &FakeGpus::System::host_memory
                                                                   : &FakeGpus::System::memory;
}
Memory memory_written_by(DeviceLane lane) {
  return lane == DeviceLane::to_host || lane == DeviceLane::host ? &FakeGpus::System::host_memory
                                                                 : &FakeGpus::System::memory;
}

constexpr unsigned kEventShift = 40;  // an event: number of its lane, from 1, and how many of its tasks come before

class FakeGpu final : public back::Device {
 public:
  explicit FakeGpu(std::shared_ptr<FakeGpus::System> system) : system_(std::move(system)), number_(system_->devices++) {
    for (Queue& queue : queues_) {
      queue.lane = std::make_unique<FakeLane>();
      queue.number = system_->add_lane(queue.lane->progress());
      queue.random.seed(system_->options.seed * 1000003 + queue.number);
      queue.kernels = back::make_cpu_device();
    }
  }

  ~FakeGpu() override {
    for (Queue& queue : queues_) queue.lane.reset();  // finishes its tasks, which use the rest
  }

  void* allocate(Bytes size) override { return system_->memory.allocate(static_cast<std::size_t>(size.value())); }

  void release(void* memory, Bytes) noexcept override { release_from(&FakeGpus::System::memory, memory); }
  void* allocate_host(Bytes size) override {
    return system_->host_memory.allocate(static_cast<std::size_t>(size.value()));
  }
  void release_host(void* memory, Bytes) noexcept override { release_from(&FakeGpus::System::host_memory, memory); }

  void launch(const Kernel& kernel, DeviceLane lane) override {
    enqueue(lane, [this, kernel, lane] { execute(kernel, lane); });
  }

  void upload(void* to, const void* host, Bytes size) override {
    const auto* first = static_cast<const std::byte*>(host);
    enqueue(DeviceLane::compute, [this, to, data = std::vector<std::byte>(first, first + size.value())] {
      const FakeMemory::Place place = system_->find(to);
      if (!place.block) system_->fault("upload to an address that is not allocated");
      if (place.block && !data.empty()) std::memcpy(place.address, data.data(), data.size());
    });
  }

  void download(void* host, const void* from, Bytes size) override {
    enqueue(DeviceLane::compute, [this, host, from, size] {
      const FakeMemory::Place place = system_->find(from);
      if (!place.block) system_->fault("download from an address that is not allocated");
      if (place.block && size.value() > 0) std::memcpy(host, place.address, static_cast<std::size_t>(size.value()));
    });
    queue(DeviceLane::compute).lane->drain();
  }

  DeviceEvent record(DeviceLane lane) override {
    const Queue& q = queue(lane);
    return (DeviceEvent{q.number + 1} << kEventShift) | q.lane->enqueued();
  }

  void wait(DeviceLane lane, DeviceEvent event) override {
    const auto number = static_cast<std::size_t>(event >> kEventShift);
    const std::uint64_t done = event & ((std::uint64_t{1} << kEventShift) - 1);
    if (number == 0) return;
    const auto other = system_->lane(number - 1);
    if (!other) return;  // as an event that nobody has recorded
    queue(lane).lane->enqueue([other, done] { other->await(done); });
  }

  back::NativeLane native(DeviceLane lane) const override {
    return {number_, queues_[static_cast<std::size_t>(lane)].lane.get()};
  }

  void synchronize() override {
    for (Queue& queue : queues_) queue.lane->drain();
  }

  void start_measuring() override {
    const std::lock_guard guard(measuring_);
    measures_ = true;
    forgotten_ += times_.size();
    times_.clear();
  }
  DeviceMark mark_queue(void* queue) override {
    const std::lock_guard guard(measuring_);
    if (!measures_) return 0;
    auto time = std::make_shared<std::promise<Nanos>>();
    times_.push_back(time->get_future().share());
    static_cast<FakeLane*>(queue)->enqueue([system = system_, time] {
      system->pass_gate();
      time->set_value(Nanos(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()));
    });
    return forgotten_ + times_.size();
  }
  std::optional<Nanos> time_of(DeviceMark mark) override {
    const std::lock_guard guard(measuring_);
    if (mark <= forgotten_ || mark > forgotten_ + times_.size()) return std::nullopt;
    return times_[mark - forgotten_ - 1].get();
  }

 private:
  struct Queue {
    std::unique_ptr<FakeLane> lane;
    std::size_t number = 0;
    std::mt19937_64 random;                 ///< used by the lane's thread
    std::unique_ptr<back::Device> kernels;  ///< likewise
  };

  Queue& queue(DeviceLane lane) { return queues_[static_cast<std::size_t>(lane)]; }

  template <class Task>
  void enqueue(DeviceLane lane, Task task) {
    queue(lane).lane->enqueue([system = system_.get(), task = std::move(task)] {
      system->pass_gate();
      task();
    });
  }

  void release_from(Memory memory, void* address) {
    enqueue(DeviceLane::compute, [this, memory, address] {
      if (const char* wrong = (system_.get()->*memory).release(address)) system_->fault(wrong);
    });
  }

  FakeMemory::Place find(Memory memory, const void* address, const std::string& who) {
    FakeMemory::Place place = (system_.get()->*memory).find(address);
    if (!place.block) {
      system_->fault(fmt::format("{} uses {}, which is not allocated{}", who, address,
                                 system_->find(address).block ? " in that lane's memory" : ""));
    }
    return place;
  }

  void execute(const Kernel& kernel, DeviceLane lane) {
    delay(queue(lane));
    if (lane == DeviceLane::to_host || lane == DeviceLane::to_device) {
      if (kernel.id != back::KernelId::copy) system_->fault("a lane for copies was given another kernel");
    }
    Kernel real = kernel;
    std::array<std::shared_ptr<FakeMemory::Block>, Kernel::kOutputs + Kernel::kInputs> held;
    std::size_t next = 0;
    const std::string who = fmt::format("kernel {}", static_cast<int>(kernel.id));
    const auto translate = [&](Memory memory, const void* address) -> std::byte* {
      if (!address) return nullptr;
      FakeMemory::Place place = find(memory, address, who);
      held[next++] = std::move(place.block);
      return place.address;
    };
    bool complete = true;
    for (void*& address : real.out) {
      void* const given = address;
      address = translate(memory_written_by(lane), given);
      complete = complete && (address || !given);
    }
    for (const void*& address : real.in) {
      const void* const given = address;
      address = translate(memory_read_by(lane), given);
      complete = complete && (address || !given);
    }
    if (complete) queue(lane).kernels->launch(real);
    ++system_->kernels;
  }

  void delay(Queue& queue) const {
    if (system_->options.max_delay_us == 0) return;
    const std::uint64_t dice = queue.random() % 4;
    if (dice == 0) {
      const auto most = static_cast<std::uint64_t>(system_->options.max_delay_us);
      std::this_thread::sleep_for(std::chrono::microseconds(queue.random() % (most + 1)));
    } else if (dice == 1) {
      std::this_thread::yield();
    }
  }

  std::shared_ptr<FakeGpus::System> system_;
  int number_;
  std::array<Queue, back::kDeviceLanes> queues_;
  std::mutex measuring_;
  bool measures_ = false;
  std::size_t forgotten_ = 0;                     ///< marks before the latest start
  std::vector<std::shared_future<Nanos>> times_;  ///< of marks
};

}  // namespace

FakeGpus::FakeGpus(const FakeGpuOptions& options) : system_(std::make_shared<System>(options)) {}
FakeGpus::~FakeGpus() = default;

std::unique_ptr<back::Device> FakeGpus::make_device() {
  return std::make_unique<FakeGpu>(system_);
}

bool FakeGpus::read(const void* address, std::span<std::byte> to) const {
  const FakeMemory::Place place = system_->memory.find(address);
  if (!place.has(to.size())) return to.empty();
  std::memcpy(to.data(), place.address, to.size());
  return true;
}

bool FakeGpus::write(void* address, std::span<const std::byte> from) {
  const FakeMemory::Place place = system_->memory.find(address);
  if (!place.has(from.size())) return from.empty();
  std::memcpy(place.address, from.data(), from.size());
  return true;
}

void FakeGpus::pause() {
  const std::lock_guard guard(system_->lock);
  system_->paused = true;
}

void FakeGpus::resume() {
  {
    const std::lock_guard guard(system_->lock);
    system_->paused = false;
  }
  system_->opened.notify_all();
}

std::vector<std::string> FakeGpus::faults() const {
  const std::lock_guard guard(system_->lock);
  return system_->faults;
}

std::int64_t FakeGpus::kernels_run() const {
  return system_->kernels;
}
std::int64_t FakeGpus::blocks_alive() const {
  return system_->memory.alive() + system_->host_memory.alive();
}

}  // namespace shardlings::support
