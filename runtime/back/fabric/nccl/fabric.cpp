// Collectives of ranks with a GPU each, by NCCL.
//
// The rank that posts last issues an operation for all its members in one group, under one lock: so all GPUs see
// operations in the same order, whatever their communicators, and no two can wait for one another. An operation begins
// on a GPU when that GPU's compute lane has got to the member's post; the compute lane goes on after finish() when the
// member's part is over. The host never waits for a GPU here.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "back/fabric/nccl/api.h"
#include "back/fabric/nccl/communicators.h"
#include "back/fabric/nccl/watchdog.h"
#include "base/mutex.h"

namespace shardlings::back::nccl {
namespace {

class NcclFabric;

class NcclExchange final : public Exchange {
 public:
  explicit NcclExchange(NcclFabric& fabric) : fabric_(fabric) {}
  void begin(int members) override;
  DataHandle post(int member, const Signature& signature, const Buffers& buffers) override;
  bool launch(const Signature& signature, std::span<const DataHandle>) override;
  HelpResult help(int) override { return HelpResult::none_left; }
  void finish(int member) override;
  Marks marks(int member) override { return marks_[static_cast<std::size_t>(member)]; }

 private:
  friend class NcclFabric;
  NcclFabric& fabric_;
  std::vector<Buffers> buffers_;
  std::vector<Marks> marks_;
  std::shared_ptr<Operation> operation_;
  bool launched_ = false;  ///< false for operations that move nothing
};

class NcclFabric final : public Fabric {
 public:
  NcclFabric(Api& api, int ranks, double timeout)
      : api_(api), communicators_(api, ranks, timeout), watchdog_(timeout), looking_([this] { look(); }) {}

  ~NcclFabric() override {
    {
      const MutexLock guard(lock_);
      ends_ = true;
    }
    wake_.notify_all();
    looking_.join();
  }

  std::unique_ptr<Exchange> make_exchange() override { return std::make_unique<NcclExchange>(*this); }

  void abort() noexcept override { hurry_ = true; }
  void rest() noexcept override;

  void watch(Stuck stuck) override {
    const MutexLock guard(telling_);
    stuck_ = std::move(stuck);
  }

  Api& api() { return api_; }

  /// Throws if NCCL has failed: nothing can be trusted any more. The flag spares ranks the lock and carries nothing;
  /// what has happened is read under the lock.
  void check() {
    if (!is_broken_.load(std::memory_order_relaxed)) return;
    const MutexLock guard(lock_);
    throw std::runtime_error(broken_);
  }

  void launch(NcclExchange& exchange, const Signature& signature);

 private:
  static constexpr std::chrono::milliseconds kLook{100}, kRest{1};

  void run(NcclExchange& exchange, const Schedule& schedule, const Communicator* communicator, bool is_pair)
      REQUIRES(lock_);
  void mark_broken(const std::string& why) REQUIRES(lock_);
  /// The watchdog's thread.
  void look();
  /// What has gone wrong since the last look, after a pause.
  struct Trouble {
    std::shared_ptr<Operation> operation;  ///< nullptr: none in particular
    std::string why;
  };
  std::optional<Trouble> next_trouble() REQUIRES(lock_);
  void tell(const Exchange* exchange, const std::string& why);

  Api& api_;
  Mutex lock_;  ///< of the order of operations, too
  Communicators communicators_ GUARDED_BY(lock_);
  Watchdog watchdog_ GUARDED_BY(lock_);
  std::string broken_ GUARDED_BY(lock_);
  bool ends_ GUARDED_BY(lock_) = false;
  std::condition_variable_any wake_;
  std::atomic<bool> is_broken_{false};
  std::atomic<bool> hurry_{false};
  Mutex telling_;
  Stuck stuck_ GUARDED_BY(telling_);
  std::thread looking_;  ///< last: it uses all the others
};

bool moves(const Signature& signature) {
  return signature.kind != Collective::barrier && signature.kind != Collective::split;
}

void NcclExchange::begin(int members) {
  const auto size = static_cast<std::size_t>(members);
  buffers_.assign(size, {});
  marks_.assign(size, {});
  operation_ = std::make_shared<Operation>(fabric_.api());
  operation_->parts.resize(size);
  operation_->exchange = this;
  launched_ = false;
}

DataHandle NcclExchange::post(int member, const Signature& signature, const Buffers& buffers) {
  fabric_.check();
  if (!moves(signature)) return 0;
  const auto m = static_cast<std::size_t>(member);
  buffers_[m] = buffers;
  const NativeLane compute = buffers.device->native(DeviceLane::compute);
  Operation::Part& part = operation_->parts[m];
  part.device = buffers.device;
  part.gpu = compute.device;
  part.ready = fabric_.api().make_event(part.gpu);
  part.done = fabric_.api().make_event(part.gpu);
  fabric_.api().record(part.gpu, part.ready, compute.queue);
  return 0;
}

bool NcclExchange::launch(const Signature& signature, std::span<const DataHandle>) {
  if (moves(signature) && signature.count > 0) fabric_.launch(*this, signature);
  return true;
}

void NcclExchange::finish(int member) {
  fabric_.check();
  if (!launched_) return;
  const Operation::Part& part = operation_->parts[static_cast<std::size_t>(member)];
  fabric_.api().wait(part.gpu, part.device->native(DeviceLane::compute).queue, part.done);
}

void NcclFabric::launch(NcclExchange& exchange, const Signature& signature) {
  const Schedule schedule = make_schedule(signature, exchange.buffers_);
  std::vector<int> gpus;
  for (const Operation::Part& part : exchange.operation_->parts) gpus.push_back(part.gpu);
  const bool is_pair = signature.kind == Collective::send_recv;
  const MutexLock guard(lock_);
  if (!broken_.empty()) throw std::runtime_error(broken_);
  try {
    const Communicator* communicator = nullptr;
    if (schedule.communicates()) {
      communicator = is_pair ? &communicators_.of_pair(gpus) : &communicators_.of_group(gpus);
    }
    run(exchange, schedule, communicator, is_pair);
  } catch (const std::exception& error) {
    mark_broken(error.what());
    communicators_.abort();  // some members may have begun what others never will
    throw;
  }
  exchange.launched_ = true;
  watchdog_.watch(exchange.operation_);
}

// What will never be over the watchdog's thread finds, and aborts: after that nothing is waited for.
void NcclFabric::rest() noexcept {
  hurry_ = true;
  MutexLock guard(lock_);
  while (!communicators_.is_aborted() && !watchdog_.is_idle()) wake_.wait_for(lock_, kRest);
}

void NcclFabric::mark_broken(const std::string& why) {
  broken_ = "NCCL was aborted: " + why;
  is_broken_.store(true, std::memory_order_relaxed);
}

void NcclFabric::run(NcclExchange& exchange, const Schedule& schedule, const Communicator* communicator, bool is_pair) {
  std::vector<Issue> issues;
  std::vector<Queue> queues;
  for (std::size_t m = 0; m < schedule.members.size(); ++m) {
    const Operation::Part& part = exchange.operation_->parts[m];
    const Queue lane = part.device->native(DeviceLane::communication).queue;
    queues.push_back(is_pair ? communicator->queues[m] : lane);
    api_.wait(part.gpu, queues[m], part.ready);
    exchange.marks_[m].begin = part.device->mark_queue(queues[m]);
    for (const Kernel& kernel : schedule.members[m].before) part.device->launch(kernel, DeviceLane::communication);
    if (communicator) issues.push_back({part.gpu, communicator->ends[m], queues[m], schedule.members[m].calls});
  }
  if (communicator) {
    api_.issue(issues);
    communicators_.settle(communicator->ends);
  }
  for (std::size_t m = 0; m < schedule.members.size(); ++m) {
    const Operation::Part& part = exchange.operation_->parts[m];
    for (const Kernel& kernel : schedule.members[m].after) part.device->launch(kernel, DeviceLane::communication);
    exchange.marks_[m].end = part.device->mark_queue(queues[m]);
    api_.record(part.gpu, part.done, queues[m]);
  }
}

std::optional<NcclFabric::Trouble> NcclFabric::next_trouble() {
  wake_.wait_for(lock_, kLook);
  if (hurry_) watchdog_.hurry();
  const std::string error = communicators_.error();
  std::shared_ptr<Operation> stuck = watchdog_.look();
  if (!error.empty()) return Trouble{std::move(stuck), "NCCL: " + error};
  if (!stuck) return std::nullopt;
  std::string why = fmt::format("after {:g} s it is {}", watchdog_.timeout(), stuck->open_parts());
  return Trouble{std::move(stuck), std::move(why)};
}

void NcclFabric::look() {
  for (;;) {
    std::optional<Trouble> trouble;
    {
      const MutexLock guard(lock_);
      if (ends_ || !broken_.empty()) return;
      trouble = next_trouble();
      if (!trouble) continue;
      mark_broken(trouble->why);
    }
    // First the report, then the end of the waiting: ranks that get on must find a run that has failed. Without the
    // lock, since who is told may call back.
    tell(trouble->operation ? trouble->operation->exchange : nullptr, trouble->why);
    const MutexLock guard(lock_);
    communicators_.abort();
  }
}

void NcclFabric::tell(const Exchange* exchange, const std::string& why) {
  const MutexLock guard(telling_);
  if (stuck_) stuck_(exchange, why);
}

}  // namespace

std::unique_ptr<Fabric> make_fabric(Api& api, int ranks, double timeout) {
  return std::make_unique<NcclFabric>(api, ranks, timeout);
}

}  // namespace shardlings::back::nccl
