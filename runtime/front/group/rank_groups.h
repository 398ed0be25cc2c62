/// \file
/// One rank's dealings with others: its groups, what it does in them, and the communication side of its clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "front/group/control.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_table.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

class RankGroups {
 public:
  RankGroups(RankContext& rank, RankMemory& memory, PendingTable& pending, Control& control);

  /// What a collective is asked for beside its tensors; where there is no reduction or no root, these do not count.
  struct Asked {
    Collective kind = Collective::barrier;
    ReduceOp op = ReduceOp::sum;
    int root = 0;
    int in = kNone, out = kNone;  ///< which tensors of the call; the same one if it works in place

    static constexpr int kNone = -1;
  };

  detail::Reply collective(const detail::Call& call, const Asked& asked);
  detail::Reply send(const detail::Call& call);
  detail::Reply recv(const detail::Call& call);
  detail::Reply send_recv(const detail::Call& call);
  detail::Reply split(const detail::Call& call);

  /// The group that a call names, for calls that the front itself makes. Throws as the group's own calls do.
  Group handle_of(detail::Port& port, const detail::Call& call) const;

  /// Virtual time begins anew.
  void restart_clock();

 private:
  /// How an operation went.
  struct Done {
    Times times;
    Label label;        ///< receives: of the data
    back::Marks marks;  ///< on a lane of this rank's device
  };

  /// An operation of this rank with others.
  class GroupOperation final : public PendingOperation {
   public:
    explicit GroupOperation(RankGroups& owner) : owner_(owner) {}
    Times settle(Location at) override;
    bool settled() const override { return done.has_value(); }
    back::DeviceEvent event() override;
    void pass_time(Location at) override { owner_.pass_time(*this, at); }
    void trace_in_flight() override;
    const char* name() const override;
    std::string describe() const override { return owner_.describe(*this); }

    Ticket ticket;
    back::Signature signature;
    const GroupInfo* group = nullptr;
    int peer = -1;  ///< world rank of the other side of a message
    bool sends = false;
    Link link = Link::intra_node;
    Operand in, out;
    std::optional<Done> done;  ///< once settled

   private:
    RankGroups& owner_;
  };

  /// Of this rank in the group that a call is about; throws InvalidArgument if it is no member.
  const Membership& membership(const detail::Call& call) const;
  const GroupInfo& group(const detail::Call& call) const { return *membership(call).group; }
  int member_of(const detail::Call& call) const { return membership(call).member; }
  back::Signature signature_of(const detail::Call& call, const Asked& asked, const Operand& in, const Operand& out);
  void check_sizes(const detail::Call& call, const back::Signature& signature, int member, const Operand& in,
                   const Operand& out);
  void check_peer(const detail::Call& call, int peer, int size);
  std::shared_ptr<GroupOperation> begin(const detail::Call& call, const back::Signature& signature, const Operand& in,
                                        const Operand& out);
  void post(GroupOperation& work, const CallRecord& record);
  CallRecord record_of(const GroupOperation& work) const;
  std::shared_ptr<GroupOperation> start(const detail::Call& call, const back::Signature& signature, const Operand& in,
                                        const Operand& out);
  std::shared_ptr<GroupOperation> start_message(const detail::Call& call, bool sends, int peer, const Operand& data);
  detail::Reply join(const Membership& made);
  void count(const GroupOperation& work);
  void label_result(const GroupOperation& work);
  void pass_time(GroupOperation& work, Location at);
  Event event_of(const GroupOperation& work);
  void add_events(const GroupOperation& work, Nanos end, Nanos now, Location at);
  std::string describe(const GroupOperation& work) const;

  RankContext& rank_;
  RankMemory& memory_;
  PendingTable& pending_;
  Control& control_;
  std::vector<Membership> groups_;       ///< by this rank's number of the group, as the control plane counts them
  std::array<Nanos, kLinks> egress_{};   ///< when the rank's outgoing link is free
  std::array<Nanos, kLinks> ingress_{};  ///< when its incoming link is
};

}  // namespace shardlings::front
