/// \file
/// One operation of a rank with others, from its post to its wait: what it counts, and the time that it takes.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "front/group/control.h"
#include "front/group/ring_traffic.h"
#include "front/memory/rank_memory.h"
#include "front/pending/pending_operation.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

/// What all operations of a rank with others work on.
struct GroupContext {
  GroupContext(RankContext& of_rank, RankMemory& of_memory, Control& of_control)
      : rank(of_rank), memory(of_memory), control(of_control) {}

  RankContext& rank;
  RankMemory& memory;
  Control& control;
  std::array<Nanos, kLinks> egress{};   ///< when the rank's outgoing link is free
  std::array<Nanos, kLinks> ingress{};  ///< when its incoming link is
  std::uint32_t revocation = 0;         ///< how often this rank has been told that groups are revoked
  /// Throws Revoked if a rank has died, of which this one has not been told.
  void check_revocation() const {
    if (!rank.options().deaths.empty()) ask_for_revocation();
  }

  /// What an operation moves, and where that is counted: by the rank's counters.
  struct Known {
    const GroupInfo* group = nullptr;  ///< nullptr: nothing is known
    Link link = Link::intra_node;
    back::Signature signature;
    int member = 0;
    Traffic* traffic = nullptr;
    RingTraffic moved;
    Traffic* within = nullptr;  ///< what of a collective over several nodes stays inside them; nullptr: nothing does
    RingTraffic inside;
  };
  /// Where what was found out of the last operations lies, of one of this kind; it may be about another one.
  Known& known(Collective kind, const GroupInfo& group, Link link);
  /// Counters begin anew.
  void forget_traffic() { known_ = {}; }

 private:
  void ask_for_revocation() const;

  std::array<Known, 8> known_{};
};

class GroupOperation final : public PendingOperation {
 public:
  explicit GroupOperation(GroupContext& of) : of_(of) {}

  /// To be another one: nobody has waited for it.
  void begin_anew() { done_.reset(); }
  /// What the other members are told of it; of a message that is sent, this takes the rank's outgoing link.
  CallRecord record();
  /// Counts its bytes and hands it over to the fabric and the control plane. `ticket` is set by now.
  void post(const CallRecord& record);
  /// Of a receive from any rank: waits until it is known from which one, and returns that rank in the group, which is
  /// this rank's one of the number `of`.
  int await_sender(std::uint32_t of);
  /// For a split, which brings no data and has been waited for already.
  void settle_at(Times times) { done_ = Done{times, {}, {}}; }

  Times settle(Location at) override;
  bool settled() const override { return done_.has_value(); }
  bool can_settle() const override { return settled() || of_.control.is_agreed(of_.rank.id(), ticket); }
  void revoke() override {}
  back::DeviceEvent event() override;
  void pass_time(Location at) override;
  void trace_in_flight() override;
  const char* name() const override;
  std::string describe() const override;

  Ticket ticket;
  back::Signature signature;
  const GroupInfo* group = nullptr;
  int peer = -1;  ///< world rank of the other side of a message
  bool sends = false;
  bool from_any = false;  ///< a receive from any rank
  Link link = Link::intra_node;
  Operand in, out;

 private:
  /// How it went.
  struct Done {
    Times times;
    Label label;        ///< receives: of the data
    back::Marks marks;  ///< on a lane of this rank's device
  };

  void count();
  bool is_like(const GroupContext::Known& last) const;
  GroupContext::Known traffic() const;
  /// Waits for the other members.
  Outcome agreed(Location at);
  /// Where the others will never come, the trace says that this rank waited.
  void trace_endless_wait(Location at);
  /// Bytes as they cross links, of those that the program sees.
  Bytes wire_bytes(Bytes seen) const;
  /// When the data are there, of which the last could be at `end`.
  Nanos arrival(Nanos end);
  void label_result();
  Event event_without_times();
  void add_events(Nanos end, Nanos now, Location at);

  GroupContext& of_;
  std::optional<Done> done_;
};

}  // namespace shardlings::front
