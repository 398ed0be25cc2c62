/// \file
/// One rank's unfinished operations: what a Work's id stands for, and the duty to wait for each.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/call.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_operation.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

class PendingTable {
 public:
  PendingTable(RankContext& rank, RankMemory& memory) : rank_(rank), memory_(memory) {}

  /// A blocking call waits at once. Otherwise the operation's data are in flight, and the reply holds its id.
  detail::Reply start(const detail::Call& call, std::shared_ptr<PendingOperation> pending);
  /// Waits for the Work of the call, and first for what it comes after, as far as nobody has waited for that.
  detail::Reply wait(const detail::Call& call);
  /// Holds a tensor until the work is waited for.
  detail::Reply keep(const detail::Call& call);
  detail::Reply drop(const detail::Call& call);

  /// nullptr if it has been waited for, or never was.
  std::shared_ptr<PendingOperation> find(std::uint64_t id) const;
  /// The Work and what it comes after, as far as nobody has waited for it; the newest first.
  std::vector<std::uint64_t> chain(std::uint64_t id) const;

  /// Throws if work was started and never waited for.
  void check_end() const;
  /// One of the blocking operations that a call has started.
  void add_blocking(std::shared_ptr<PendingOperation> pending) { blocking_.push_back(std::move(pending)); }
  /// Waits for them. Where the run fails meanwhile, the operation counts as in flight.
  void settle_blocking();
  /// Another rank has died: what can settle does, and all else is revoked. None of their data are in flight any more,
  /// and nobody need wait for them.
  void forgive_all(Location at);
  /// After a failure: records what was in flight.
  void trace_in_flight() const;

 private:
  void settle_or_stick(const std::shared_ptr<PendingOperation>& pending);
  void finish(std::uint64_t id, Location at);
  void give_up(PendingOperation& pending, Location at);
  /// Of when the program stood still, only what is later than the oldest operation under way is of interest.
  void forget_standstills();
  void mark(const PendingOperation& pending, std::uint64_t work);
  void unmark(const PendingOperation& pending, std::uint64_t work);

  RankContext& rank_;
  RankMemory& memory_;
  std::unordered_map<std::uint64_t, std::shared_ptr<PendingOperation>> pending_;
  std::vector<std::shared_ptr<PendingOperation>> blocking_;  ///< of the call under way
  std::vector<std::shared_ptr<PendingOperation>> stuck_;
  std::size_t many_standstills_ = 16;  ///< beyond so many it is worth while to look for the oldest operation
  std::uint64_t next_ = 1;
};

}  // namespace shardlings::front
