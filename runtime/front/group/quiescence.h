/// \file
/// Which ranks sleep, and the moment at which nobody can go on by itself: what comes next in virtual time is granted
/// then (next_event.h), and the run is judged when there is nothing. Neither happens at any other time.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "back/engine/engine.h"
#include "back/fabric/fabric.h"
#include "base/mutex.h"
#include "front/clock/cost.h"
#include "front/group/deaths.h"
#include "front/group/live_situation.h"
#include "front/group/next_event.h"
#include "front/misuse/detector.h"

namespace shardlings::front {

/// Invariants
/// (1) `runnable_` counts the ranks that are neither blocked nor finished nor dead; it changes with their `status_`,
///     under the lock. At 0 nobody can ever change that but by a grant, so what has happened is final, and all of it
///     can be seen: every rank has held the lock since it did anything.
/// (2) The waker moves the count: a rank whose meeting is agreed counts as runnable before it is woken. If it wakes by
///     itself first, which it sees from `asleep`, it moves the count before it goes on. So it is moved exactly once.
/// (3) Nobody sleeps on a meeting that is no longer open. A sleeper counts itself in `parked` and then looks at `phase`
///     again; the waker sets `phase` and then looks at `parked`. All four are sequentially consistent, so in their one
///     order at least one of the two sees the other. Acquire and release would allow both to miss it.
class Quiescence {
 public:
  Quiescence(int ranks, back::Engine& engine, back::Fabric& fabric, const CostModel& costs, BlackBox* black_box);

  /// Makes what those get that agree on who they are, by rank and in its order, when all that they say is known and
  /// they sleep. Sets `end`, `split` and `agreed_on` of their meetings.
  using Agree = std::function<void(const std::vector<Meeting*>& of_ranks, Nanos time, bool anybody_died)>;
  /// How long a death is not known of; for runs in which ranks die.
  void expect_deaths(Nanos detection) EXCLUDES(lock_);
  /// Who makes agreements.
  void agree_by(Agree agree) EXCLUDES(lock_);

  /// Returns when the meeting, of which the rank is a member, is agreed. Throws Aborted if the run has failed, and
  /// Revoked if a rank has died.
  void wait(int rank, Meeting& meeting, int member, Location at) EXCLUDES(lock_);
  /// For who speaks for a rank and must not sleep: false if wait() would return or throw at once; else the rank counts
  /// as blocked from now on, and when the engine is told to wake somebody this may be asked again.
  bool blocks(int rank, Meeting& meeting, int member, Location at) EXCLUDES(lock_);
  /// The meeting is agreed: the ranks that sleep on it go on.
  void wake(Meeting& meeting) EXCLUDES(lock_);
  /// A meeting that is complete and contradicts itself. It stays open: its members will block, and the detector says
  /// why.
  void add_mismatch(const Meeting* meeting) EXCLUDES(lock_);
  /// The rank's function has ended: see Control.
  void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last)
      EXCLUDES(lock_);
  /// The rank is dead: see Control.
  void die(int rank, Nanos died) EXCLUDES(lock_);
  Revocation revocation() EXCLUDES(lock_);
  /// Ends the run for a reason that no rank has. The first failure counts.
  void fail(const Failure& failure) EXCLUDES(lock_);

  /// Relaxed, since nothing is read on the strength of it: a rank that sees it late makes one more call. Where it
  /// decides whether to sleep and whether to judge, the lock orders it; failure() takes the lock.
  bool aborted() const { return aborted_.load(std::memory_order_relaxed); }
  std::optional<Failure> failure() EXCLUDES(lock_);

 private:
  struct alignas(64) Sleeper {
    std::atomic<bool> asleep{false};
  };

  void sleep(int rank, Meeting& meeting, int member, Location at) EXCLUDES(lock_);
  bool block(int rank, Meeting& meeting, int member, Location at) EXCLUDES(lock_);
  void unblock(int rank, Meeting& meeting) EXCLUDES(lock_);
  void set_running(int rank) REQUIRES(lock_);
  void go_on_or_judge() REQUIRES(lock_);
  bool is_lost() const REQUIRES(lock_);
  void grant(Meeting& asked) REQUIRES(lock_);
  void grant_looks(Nanos time) REQUIRES(lock_);
  void revoke(const PeerDeath& death) REQUIRES(lock_);
  void agree() REQUIRES(lock_);
  void wake_with(Meeting& meeting, Phase phase) REQUIRES(lock_);
  void end_run(const std::optional<Failure>& failure) REQUIRES(lock_);
  void note(int rank, RankState state);

  back::Engine& engine_;
  back::Fabric& fabric_;
  const CostModel& costs_;
  BlackBox* black_box_;
  std::vector<Sleeper> sleepers_;     ///< by rank; set under the lock, looked at without
  std::atomic<bool> aborted_{false};  ///< set under the lock, looked at without: see aborted()

  Mutex lock_;
  int runnable_ GUARDED_BY(lock_);
  std::vector<LiveStatus> status_ GUARDED_BY(lock_);  ///< by rank
  std::vector<const Meeting*> mismatches_ GUARDED_BY(lock_);
  Deaths deaths_ GUARDED_BY(lock_);
  Revocation revocation_ GUARDED_BY(lock_);
  Agree agree_ GUARDED_BY(lock_);
  std::optional<Failure> failure_ GUARDED_BY(lock_);
};

}  // namespace shardlings::front
