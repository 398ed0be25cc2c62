/// \file
/// Stands in for NCCL between fake GPUs, to prove the fabric's host side: which calls it makes, on which queues, in
/// which order, and what it does when they do not end.
///
/// As NCCL does, it waits on a queue until all members of a communicator are there, on each communicator in the order
/// of issue. What would hang or be undefined there is a fault here: members whose calls differ, a message that only one
/// side knows, calls of one group that write what others use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "back/fabric/nccl/api.h"
#include "support/fake_gpu.h"

namespace shardlings::support {

class FakeNccl final : public back::nccl::Api {
 public:
  using Call = back::nccl::Call;
  using Comm = back::nccl::Comm;
  using Queue = back::nccl::Queue;
  using Event = back::nccl::Event;

  explicit FakeNccl(FakeGpus& gpus) : gpus_(gpus) {}
  ~FakeNccl() override;

  /// The next operation never ends, until it is aborted.
  void hang_next() { hang_next_ = true; }
  /// From now on every communicator has failed.
  void fail(const std::string& error);

  std::vector<std::string> faults() const;
  /// Communicators made so far, without the root.
  int splits() const { return splits_; }
  int operations() const { return operations_; }
  /// Ends of communicators and events that nobody has freed.
  int alive() const { return alive_; }

  std::string version() override { return "0.0.0"; }
  Queue make_queue(int gpu) override;
  void free_queue(int gpu, Queue queue) noexcept override;
  Event make_event(int gpu) override;
  void free_event(int gpu, Event event) noexcept override;
  void record(int gpu, Event event, Queue queue) override;
  void wait(int gpu, Queue queue, Event event) override;
  bool reached(Event event) override;
  std::vector<Comm> make_root(int gpus) override;
  std::vector<Comm> split(std::span<const Comm> root, std::span<const int> members, int channels) override;
  void issue(std::span<const back::nccl::Issue> issues) override;
  State state(Comm comm, std::string& error) override;
  void abort(Comm comm) noexcept override;
  void destroy(std::span<const Comm> ends) noexcept override;

 private:
  struct Meeting;
  struct End;
  std::vector<Comm> make_ends(std::size_t members);
  void fault(const std::string& sentence);
  void run(Meeting& meeting, std::size_t member);
  void perform(const Meeting& meeting);
  void perform(const std::vector<std::vector<Call>>& calls, std::size_t index);
  void deliver(const std::vector<std::vector<Call>>& calls);
  void reduce(const std::vector<Call>& calls, std::int64_t first, Count count, void* out);
  std::vector<std::byte> bytes_at(const void* address, std::int64_t size);
  void write(void* address, const std::vector<std::byte>& bytes);

  FakeGpus& gpus_;
  mutable std::mutex lock_;
  std::vector<std::string> faults_;
  std::string error_;
  std::vector<std::shared_ptr<Meeting>> meetings_;
  std::atomic<bool> hang_next_{false}, aborted_{false};
  std::atomic<int> splits_{0}, operations_{0}, alive_{0};
};

}  // namespace shardlings::support
