/// \file
/// The control plane of ranks that are spread over processes, from the side of one process: its ranks tell a server
/// what they call (control_server.h), which runs the shared control plane on their behalf. So the same code matches
/// calls, keeps the clock and judges, however the ranks are spread.
///
/// What all members have agreed on is told to all of their processes at once, which move the data; a rank tells that it
/// waits only if it must.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "back/engine/engine.h"
#include "back/transport/progress.h"
#include "front/clock/cost.h"
#include "front/group/control.h"
#include "front/group/mover.h"
#include "front/misuse/black_box.h"
#include "front/remote/messages.h"

namespace shardlings::front {

class RemoteControl final : public Control {
 public:
  /// `own`: the ranks of this process, of `ranks` in all. The data go through `fabric`, of which each process has one.
  /// `black_box`: where this process's ranks note what they are doing; nullptr: nowhere. The server notes it in its
  /// own, which may be another one.
  RemoteControl(back::Progress& progress, back::Fabric& fabric, int ranks, const Cluster& cluster, Range own,
                BlackBox* black_box);
  ~RemoteControl() override;

  Membership world(int rank) override;
  Ticket join(int rank, std::uint32_t group) override;
  Ticket join_message(int rank, std::uint32_t group, int from, int to) override;
  void post(int rank, const Ticket& ticket, const CallRecord& record, back::DataHandle data) override;
  Outcome wait(int rank, const Ticket& ticket, Location at) override;
  SplitOutcome wait_split(int rank, const Ticket& ticket, Location at) override;
  int wait_for_any(int rank, std::uint32_t group, const CallRecord& record, Location at) override;
  void wait_to_look(int rank, Nanos time, Location at) override;
  Agreement agree(int rank, Nanos posted, Count says, Location at) override;
  void die(int rank, Nanos died) override;
  /// It is told to all before anybody goes on who has waited when it changed.
  Revocation revocation() override;
  /// The outcome is told to all members at once.
  bool is_agreed(int rank, const Ticket& ticket) override;
  void clear_lanes(int rank) override;
  void leave(int rank, const Ticket& ticket) override;
  std::optional<Outcome> known(const Ticket& ticket) const override;
  void restart_clock(int rank) override;
  void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) override;
  bool aborted() const override { return aborted_.load(std::memory_order_relaxed); }
  /// The server knows.
  std::optional<Failure> failure() override { return std::nullopt; }

  /// Returns when all ranks of all processes have finished, and what this process had under way has come to its end.
  void await_end();
  /// Whether the run has failed, after its end.
  bool has_failed() const { return failed_; }

 private:
  /// An operation of a rank.
  struct Joined {
    explicit Joined(std::unique_ptr<back::Exchange> exchange, back::Engine& engine)
        : mover(std::move(exchange), engine) {}

    Mover mover;
    std::uint64_t number = 0;  ///< on its rank
    std::uint32_t group = 0;
    bool message = false;
    int from = 0, to = 0;
    std::optional<Outcome> outcome;
    std::vector<back::DataHandle> handles;  ///< to which the outcome refers
  };
  struct OfRank {
    std::deque<GroupInfo> infos;  ///< references stay valid
    std::vector<Membership> groups;
    std::uint64_t last = 0;  ///< number of an operation
    std::unordered_map<std::uint64_t, std::unique_ptr<Joined>> joined;
    std::optional<SplitOutcome> split;  ///< answers to what the rank waits for
    std::optional<int> sender;
    std::optional<Agreement> agreement;
    bool may_look = false;
  };

  /// For whom a message is. Throws std::runtime_error if that is no rank of this process.
  OfRank& addressee(remote::Reader& message);
  OfRank& own(int rank) { return ranks_[static_cast<std::size_t>(rank - own_.begin)]; }
  static Joined& joined_of(const Ticket& ticket);
  Ticket add(int rank, std::unique_ptr<Joined> joined, int members, int member);
  std::unique_ptr<Joined> new_joined(std::uint32_t group);
  remote::Writer request(remote::Request what, int rank) const;
  void note(int rank, RankState state) const;
  void tell(const remote::Writer& message);
  /// Whether a rank waits for others, one of whom may die.
  enum class WaitsFor : bool { others, its_turn };
  /// Tells the server that a rank waits, and does so until `is_there` holds. Throws Aborted if the run has failed, and
  /// Revoked.
  template <class IsThere>
  void await(int rank, const remote::Writer& message, Location at, WaitsFor what, IsThere is_there);
  void hear(std::string_view message);
  void hear_outcome(remote::Reader& message);
  void hear_split(remote::Reader& message);
  void hear_agreement(remote::Reader& message);
  std::optional<Membership> read_group(OfRank& of, remote::Reader& message);

  back::Progress& progress_;
  back::Fabric& fabric_;
  std::unique_ptr<back::Engine> engine_;
  Range own_;
  BlackBox* black_box_;
  std::vector<OfRank> ranks_;         ///< this and what is below: under the lock of the Progress
  std::atomic<bool> aborted_{false};  ///< looked at without
  bool over_ = false, failed_ = false;
  Revocation revocation_;
};

}  // namespace shardlings::front
