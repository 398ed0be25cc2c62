/// \file
/// One rank's dealings with others: the groups that it is in, and the operations that it starts in them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/call.h"
#include "front/group/control.h"
#include "front/group/group_operation.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_table.h"
#include "front/rank/collectives.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

/// What a collective is asked for beside its tensors; where there is no reduction or no root, these do not count.
struct CollectiveRequest {
  Collective kind = Collective::barrier;
  ReduceOp op = ReduceOp::sum;
  int root = 0;

  /// One of the call's tensors.
  struct Tensor {
    int index = kNone;
    const char* name = "";
    bool only_on_root = false;  ///< elsewhere it may be left out
  };
  Tensor in, out;  ///< the same one if it works in place

  static constexpr int kNone = -1;
};

class RankGroups final : public Collectives {
 public:
  RankGroups(RankContext& rank, RankMemory& memory, PendingTable& pending, Control& control);

  detail::Reply collective(const detail::Call& call, const CollectiveRequest& asked);
  void repeat(const detail::Call& call, std::uint32_t group, const back::Signature& signature) override;
  void tell(CollectiveWatcher* watcher) override { watcher_ = watcher; }
  detail::Reply send(const detail::Call& call);
  detail::Reply recv(const detail::Call& call);
  detail::Reply recv_any(const detail::Call& call);
  detail::Reply send_recv(const detail::Call& call);
  detail::Reply split(const detail::Call& call);
  detail::Reply survivors(const detail::Call& call);
  /// Of a member of the group of the last survivors(): its number in the world, and what it has said.
  detail::Reply survivor(const detail::Call& call) const;

  /// This rank is dead from now on.
  void die(Nanos died) { shared_.control.die(shared_.rank.id(), died); }
  /// All groups are revoked: gives up what is under way. The clock moves to when the death can be known.
  void give_up(const Revocation& revocation, Location at);
  /// The group that a call names, for calls that the front itself makes. Throws as the group's own calls do.
  Group handle_of(detail::Port& port, const detail::Call& call) const;

  /// Virtual time begins anew.
  void restart_clock();

 private:
  using Operation = std::shared_ptr<GroupOperation>;

  /// Of this rank in the group that a call is about; throws InvalidArgument if it is no member, PeerFailed or Revoked
  /// if the group is revoked.
  const Membership& membership(const detail::Call& call) const;
  /// A tensor without elements may be a rank's part; no tensor at all is a mistake.
  void require(const detail::Call& call, const Operand& operand, const char* name) const;
  Operation begin(const detail::Call& call, const back::Signature& signature, const Operand& in, const Operand& out);
  void begin(GroupOperation& operation, const Membership& in, const detail::Call& call,
             const back::Signature& signature) const;
  Operation start(const detail::Call& call, const back::Signature& signature, const Operand& in, const Operand& out);
  /// What the other members are told of a collective.
  CallRecord record_of(const detail::Call& call, std::uint32_t group, GroupOperation& operation);
  Operation start_message(const detail::Call& call, bool sends, int peer, const Operand& data);
  Operation begin_message(const detail::Call& call, bool sends, const Operand& data);
  void post_message(const detail::Call& call, GroupOperation& operation, int peer);
  void check_revoked(const detail::Call& call) const;
  void trace_agreement(Location at, Nanos called);
  detail::Reply join(const Membership& made);
  detail::Reply handle_to(std::uint32_t group) const;

  GroupContext shared_;
  PendingTable& pending_;
  /// By this rank's number of the group, as the control plane counts them.
  std::vector<Membership> groups_;
  std::vector<std::uint64_t> not_learners_;  ///< collectives of each group that the harness has called
  std::uint32_t first_valid_ = 0;            ///< all groups of this rank before this one are revoked
  PeerDeath death_;                          ///< for which they were
  std::uint32_t agreed_ = 0;                 ///< the group of the last survivors()
  std::shared_ptr<const std::vector<Count>> said_;
  CollectiveWatcher* watcher_ = nullptr;
  GroupOperation repeated_;  ///< of repeat(): one at a time, and without tensors
};

}  // namespace shardlings::front
