/// \file
/// The control plane of ranks in one address space.
///
/// Operations of a group form a chain: each member keeps its place and steps on with every call, so that the k-th call
/// of one meets the k-th call of the others. Posting takes no lock, but for the rare operation whose lane is still
/// taken by an unresolved one. Who sleeps, and whether anybody can still go on, is the Quiescence's.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "front/clock/cost.h"
#include "front/group/control.h"
#include "front/group/fold.h"
#include "front/group/meeting_pool.h"
#include "front/group/quiescence.h"

namespace shardlings::front {

class SharedControl final : public Control {
 public:
  SharedControl(int ranks, const Cluster& cluster, back::Engine& engine, back::Fabric& fabric, BlackBox* black_box,
                bool checks, const Fold* fold = nullptr);
  ~SharedControl() override;

  Membership world(int rank) override;
  Ticket join(int rank, std::uint32_t group) override;
  Ticket join_message(int rank, std::uint32_t group, int from, int to) override;
  void post(int rank, const Ticket& ticket, const CallRecord& record, back::DataHandle data) override;
  Outcome wait(int rank, const Ticket& ticket, Location at) override;
  SplitOutcome wait_split(int rank, const Ticket& ticket, Location at) override;
  int wait_for_any(int rank, std::uint32_t group, const CallRecord& record, Location at) override;
  void wait_to_look(int rank, Nanos time, Location at) override;
  Agreement agree(int rank, Nanos posted, Count says, Location at) override;
  void die(int rank, Nanos died) override { quiescence_.die(rank, died); }
  Revocation revocation() override { return quiescence_.revocation(); }
  bool is_agreed(int rank, const Ticket& ticket) override;
  void clear_lanes(int rank) override;
  void leave(int rank, const Ticket& ticket) override;
  std::optional<Outcome> known(const Ticket& ticket) const override;
  void restart_clock(int rank) override;
  void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) override;
  bool aborted() const override { return quiescence_.aborted(); }
  /// Ranks may die, of which others know so much later.
  void expect_deaths(Nanos detection) { quiescence_.expect_deaths(detection); }
  std::optional<Failure> failure() override { return quiescence_.failure(); }
  /// What the ranks do not know of has gone wrong: the run ends by this, unless it has failed already.
  void fail(const Failure& failure) { quiescence_.fail(failure); }

  /// \name For who speaks for many ranks on one thread, and must not sleep for any of them
  /// @{
  /// False if wait(), wait_split() or one of the ends below would return or throw at once. Else the rank counts as
  /// blocked from now on, and when the engine is told to wake somebody this may be asked again.
  bool blocks(int rank, const Ticket& ticket, Location at);
  /// wait_for_any(), wait_to_look() and agree() in two steps: the call, and what comes of it, which forgets the ticket.
  Ticket begin_any(int rank, std::uint32_t group, const CallRecord& record);
  int end_any(int rank, const Ticket& ticket, Location at);
  Ticket begin_look(int rank, Nanos time, Location at);
  void end_look(int rank, const Ticket& ticket, Location at);
  Ticket begin_agree(int rank, Nanos posted, Count says, Location at);
  Agreement end_agree(int rank, const Ticket& ticket, Location at);
  /// @}

 private:
  /// What one rank alone touches.
  struct alignas(64) Member {
    std::vector<Seat> seats;                               ///< by the rank's number of the group
    std::unordered_map<std::uint64_t, Meeting*> channels;  ///< by (group, from, to): the last message
    std::unordered_map<std::uint32_t, Inbox> inboxes;      ///< by group: of receives from any rank
    std::array<Meeting*, kLinks> lane_tail{};              ///< the lane's last operation, while unresolved
    std::array<Nanos, kLinks> lane_end{};                  ///< else: when the lane is free
    /// Of a folded run, by group: the members that this rank posts for, beside itself.
    std::unordered_map<const GroupInfo*, std::vector<int>> mirrored;
  };
  /// A channel for messages of a group, from one of its ranks to another.
  using Channel = std::tuple<const GroupInfo*, int, int>;

  Member& own(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  void unref(int rank, Meeting* meeting);
  struct Kind;
  /// Steps from `place` to the next meeting of the chain, making it if this rank is the first.
  Meeting* step(int rank, Meeting*& place, const Kind& kind);
  Meeting*& channel(int rank, std::uint32_t group, int from, int to);
  const Inbox& inbox(int rank, std::uint32_t group);
  /// A meeting in which this rank waits alone.
  Meeting* ask(int rank, Asks what, const Membership& in, const CallRecord& record);
  void refuse_folded(const char* why, const GroupInfo& group);
  /// For the Quiescence: see there.
  void make_agreement(const std::vector<Meeting*>& of_ranks, Nanos time, bool anybody_died);
  const GroupInfo& group_of(std::vector<int> ranks);
  static Nanos lane_end(int rank, const Meeting* tail);
  /// A folded run's rank posts for those that it stands for. Returns how many.
  int post_for_others(int rank, Meeting* meeting, int member);
  int running_of(const std::vector<int>& members) const;
  void take_lane(int rank, Meeting* meeting, int member);
  void complete_posting(int rank, Meeting* meeting);
  bool waits_for_predecessors(Meeting* meeting);
  void resolve(int rank, Meeting* meeting);
  void resolve_one(int rank, Meeting* meeting, std::vector<Meeting*>& next);
  void drop_predecessors(int rank, Meeting* meeting);
  void add_resolved_successors(Meeting* meeting, std::vector<Meeting*>& resolved);
  void set_times(Meeting* meeting) const;
  void make_groups(Meeting* split);
  /// The fabric says that an operation that everybody has joined does not come to its end.
  void report_stuck(const back::Exchange* exchange, const std::string& why);

  back::Fabric& fabric_;
  CostModel costs_;
  bool checks_;
  const Fold* fold_;  ///< nullptr: all ranks run
  MeetingPool pool_;
  Quiescence quiescence_;
  std::vector<Member> members_;

  const GroupInfo* agreed_ = nullptr;  ///< of the last agreement; changes only while all ranks sleep
  int agreements_ = 0;                 ///< that have made a group

  Mutex queues_;  ///< guards every meeting's `successors` and `waiting_for`
  Mutex tables_;
  std::deque<GroupInfo> groups_ GUARDED_BY(tables_);  ///< references stay valid, and what they refer to never changes
  std::map<Channel, Meeting*> channel_heads_ GUARDED_BY(tables_);
};

}  // namespace shardlings::front
