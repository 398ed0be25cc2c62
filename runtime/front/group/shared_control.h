/// \file
/// The control plane of ranks in one address space.
///
/// Operations of a group form a chain: each member keeps its place and steps on with every call, so that the k-th call
/// of one meets the k-th call of the others. Posting takes no lock; the lock guards sleeping, judging and the rare
/// operation whose lane is still taken by an unresolved one.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "back/engine/engine.h"
#include "front/clock/cost.h"
#include "front/group/control.h"
#include "front/group/meeting.h"
#include "front/misuse/judge.h"

namespace shardlings::front {

class SharedControl final : public Control {
 public:
  SharedControl(int ranks, const Cluster& cluster, back::Engine& engine, back::Fabric& fabric, BlackBox* black_box,
                bool checks);
  ~SharedControl() override;

  const GroupInfo& world() override { return *groups_.front(); }
  Ticket post(int rank, std::uint32_t group, int member, const CallRecord& record,
              const back::Buffers& buffers) override;
  Ticket post_message(int rank, std::uint32_t group, int from, int to, bool sends, const CallRecord& record,
                      const back::Buffers& buffers) override;
  Outcome wait(int rank, Ticket ticket, Location at) override;
  void abandon(int rank, Ticket ticket) noexcept override;
  SplitOutcome wait_split(int rank, Ticket ticket, Location at) override;
  void restart_clock(int rank) override;
  std::optional<Outcome> known(Ticket ticket) const override;
  void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) override;
  bool aborted() const override { return aborted_.load(std::memory_order_relaxed); }
  std::optional<Failure> failure() override;

 private:
  /// Where a rank stands in a group's chain.
  struct Place {
    const GroupInfo* group = nullptr;
    Meeting* last = nullptr;  ///< the last meeting it has joined
  };
  /// What one rank alone touches.
  struct alignas(64) Member {
    std::vector<Place> places;                             ///< by group
    std::unordered_map<std::uint64_t, Meeting*> channels;  ///< by (group, from, to): the same for messages
    std::array<Meeting*, kLinks> lane_tail{};              ///< the lane's last operation, while unresolved
    std::array<Nanos, kLinks> lane_end{};                  ///< else: when the lane is free
    std::vector<Meeting*> spare;                           ///< meetings to use again
    std::atomic<bool> asleep{false};                       ///< set under the lock, with the count of the runnable
  };

  Place& place_in(int rank, std::uint32_t group);
  Meeting* make_meeting();  ///< `tables_` is held
  Meeting* fresh(int rank);
  void recycle(int rank, Meeting* meeting);
  void unref(int rank, Meeting* meeting);
  /// Steps from `place` to the next meeting of the chain, making it if this rank is the first.
  Meeting* step(int rank, Meeting*& place, const GroupInfo& group, bool message, int from, int to);
  Meeting*& channel(int rank, std::uint32_t group, int from, int to);
  void take_lane(int rank, Meeting* meeting, int member);
  void complete_posting(int rank, Meeting* meeting);
  void resolve(int rank, Meeting* meeting);
  void set_times(Meeting* meeting);
  void make_groups(Meeting* meeting);
  void set_phase(Meeting* meeting, Phase phase);
  void wait_for(int rank, Meeting* meeting, int member, Location at);
  void sleep(int rank, Meeting* meeting, std::uint32_t phase, Location at);
  void judge_if_still();
  void fail(const std::optional<Failure>& failure);
  /// The fabric says that an operation that everybody has joined does not come to its end.
  void report_stuck(const back::Exchange* exchange, const std::string& why);

  back::Engine& engine_;
  back::Fabric& fabric_;
  CostModel costs_;
  bool checks_;
  BlackBox* black_box_;
  std::vector<Member> members_;
  std::atomic<bool> aborted_{false};

  std::mutex lock_;
  int runnable_;
  std::vector<RankStatus> status_;  ///< by rank
  std::vector<Meeting*> mismatches_;
  std::optional<Failure> failure_;
  std::mutex tables_;  ///< guards what follows
  std::deque<std::unique_ptr<GroupInfo>> groups_;
  std::deque<std::unique_ptr<Meeting>> all_;
  std::vector<Meeting*> spare_;        ///< meetings that a rank had too many of
  std::vector<Meeting*> chain_heads_;  ///< by group
  std::map<std::tuple<std::uint32_t, int, int>, Meeting*> channel_heads_;
};

}  // namespace shardlings::front
