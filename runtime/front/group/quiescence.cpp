#include "front/group/quiescence.h"

#include <algorithm>
#include <utility>

#include "shardlings/error.h"

namespace shardlings::front {
namespace {

std::uint32_t word(Phase phase) {
  return static_cast<std::uint32_t>(phase);
}

[[noreturn]] void throw_aborted(Location at) {
  throw Aborted("the run has failed; see its report", at);
}

}  // namespace

Quiescence::Quiescence(int ranks, back::Engine& engine, back::Fabric& fabric, const CostModel& costs,
                       BlackBox* black_box)
    : engine_(engine),
      fabric_(fabric),
      costs_(costs),
      black_box_(black_box),
      sleepers_(static_cast<std::size_t>(ranks)),
      runnable_(ranks),
      status_(static_cast<std::size_t>(ranks)) {}

// The fast path takes no lock. Acquire: `agreed` comes with the times and the launch (Meeting, invariants 3 and 4).
void Quiescence::wait(int rank, Meeting& meeting, int member, Location at) {
  for (;;) {
    const std::uint32_t phase = meeting.phase.load(std::memory_order_acquire);
    if (phase == word(Phase::agreed)) return;
    if (phase == word(Phase::aborted)) throw_aborted(at);
    if (phase == word(Phase::revoked)) throw Revoked{revocation()};
    if (!engine_.spin(meeting.phase, phase)) sleep(rank, meeting, member, at);
  }
}

void Quiescence::sleep(int rank, Meeting& meeting, int member, Location at) {
  if (!block(rank, meeting, member, at)) return;
  constexpr auto kOpen = static_cast<std::uint32_t>(Phase::open);
  while (meeting.phase.load(std::memory_order_acquire) == kOpen) engine_.park(meeting.phase, kOpen);
  // Acquire: pairs with the waker's release, after which `status_` is this rank's to change again.
  if (sleepers_[static_cast<std::size_t>(rank)].asleep.load(std::memory_order_acquire)) unblock(rank, meeting);
  note(rank, RankState::running);
}

// False if the meeting is no longer open. Judges if this rank was the last that could go on.
bool Quiescence::block(int rank, Meeting& meeting, int member, Location at) {
  const auto r = static_cast<std::size_t>(rank);
  const MutexLock guard(lock_);
  // Under the lock this is exact: end_run() wakes those that are blocked, and nobody blocks after it.
  if (aborted()) throw_aborted(at);
  meeting.parked.fetch_add(1, std::memory_order_seq_cst);  // invariant 3
  if (meeting.phase.load(std::memory_order_seq_cst) != word(Phase::open)) {
    meeting.parked.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  status_[r].told.state = RankState::blocked;
  status_[r].blocked_in = &meeting;
  status_[r].told.member = member;
  status_[r].told.at = at;
  sleepers_[r].asleep.store(true, std::memory_order_relaxed);  // its own; the waker sees it by the lock
  note(rank, RankState::blocked);
  --runnable_;
  go_on_or_judge();
  return true;
}

bool Quiescence::blocks(int rank, Meeting& meeting, int member, Location at) {
  const auto is_open = [&] { return meeting.phase.load(std::memory_order_acquire) == word(Phase::open); };
  if (!is_open() || aborted()) return false;
  {
    const MutexLock guard(lock_);
    if (status_[static_cast<std::size_t>(rank)].blocked_in == &meeting) return true;
  }
  return block(rank, meeting, member, at) && is_open();
}

// Awake before the waker has moved the count: move it ourselves (invariant 2).
void Quiescence::unblock(int rank, Meeting& meeting) {
  const auto r = static_cast<std::size_t>(rank);
  const MutexLock guard(lock_);
  if (status_[r].blocked_in == &meeting && !aborted()) {
    set_running(rank);
    meeting.parked.fetch_sub(1, std::memory_order_relaxed);  // under the lock, as every change but its first
  }
  sleepers_[r].asleep.store(false, std::memory_order_relaxed);
}

void Quiescence::set_running(int rank) {
  LiveStatus& status = status_[static_cast<std::size_t>(rank)];
  status.told.state = RankState::running;
  status.blocked_in = nullptr;
  note(rank, RankState::running);
  ++runnable_;
}

void Quiescence::wake(Meeting& meeting) {
  meeting.phase.store(word(Phase::agreed), std::memory_order_seq_cst);  // invariant 3
  if (meeting.parked.load(std::memory_order_seq_cst) == 0) return;
  {
    const MutexLock guard(lock_);
    for (int member = 0; member < meeting.members(); ++member) {
      const int rank = meeting.rank_of(member);
      if (status_[static_cast<std::size_t>(rank)].blocked_in != &meeting) continue;
      set_running(rank);
      sleepers_[static_cast<std::size_t>(rank)].asleep.store(false, std::memory_order_release);  // see sleep()
    }
    meeting.parked.store(0, std::memory_order_relaxed);
  }
  engine_.wake(meeting.phase);
}

// As wake() does, but for ranks that are known to sleep. That they do so no more is said last: from then on the meeting
// may be used for another operation, to whose sleepers the wake is an idle one.
void Quiescence::wake_with(Meeting& meeting, Phase phase) {
  meeting.phase.store(word(phase), std::memory_order_seq_cst);
  meeting.parked.store(0, std::memory_order_relaxed);
  const int members = meeting.members();
  for (int member = 0; member < members; ++member) {
    const int rank = meeting.rank_of(member);
    if (status_[static_cast<std::size_t>(rank)].blocked_in != &meeting) continue;
    set_running(rank);
    sleepers_[static_cast<std::size_t>(rank)].asleep.store(false, std::memory_order_release);  // see sleep()
  }
  engine_.wake(meeting.phase);
}

void Quiescence::grant(Meeting& asked) {
  wake_with(asked, Phase::agreed);
}

void Quiescence::grant_looks(Nanos time) {
  for (const LiveStatus& status : status_) {
    Meeting* look = status.blocked_in;
    if (look == nullptr || look->asks != Asks::look || look->records.front().posted != time) continue;
    grant(*look);
  }
}

// Whoever does not wait for others is told at its next call.
void Quiescence::revoke(const PeerDeath& death) {
  revocation_ = {revocation_.number + 1, death};
  for (const LiveStatus& status : status_) {
    if (waits_for_others(status)) wake_with(*status.blocked_in, Phase::revoked);
  }
}

void Quiescence::agree() {
  std::vector<Meeting*> agreeing;
  Nanos time;
  for (const LiveStatus& status : status_) {
    if (status.blocked_in == nullptr) continue;
    agreeing.push_back(status.blocked_in);
    time = std::max(time, status.blocked_in->records.front().posted);
  }
  const std::optional<PeerDeath> death = deaths_.earliest_new();
  if (death) {
    time = std::max(time, deaths_.all_known());
    revocation_ = {revocation_.number + 1, *death};
    deaths_.acknowledge();
  }
  agree_(agreeing, time, death.has_value());
  for (Meeting* meeting : agreeing) grant(*meeting);
}

void Quiescence::add_mismatch(const Meeting* meeting) {
  const MutexLock guard(lock_);
  mismatches_.push_back(meeting);
}

/// The run has failed, and those that still sleep are to hear of it.
bool Quiescence::is_lost() const {
  return !mismatches_.empty() || std::any_of(status_.begin(), status_.end(), [](const LiveStatus& status) {
    return status.told.state == RankState::failed;
  });
}

// What was granted makes somebody runnable, so the run is judged once there is nothing more to grant.
void Quiescence::go_on_or_judge() {
  if (runnable_ > 0 || aborted()) return;
  NextEvent next = next_event(status_, deaths_, costs_);
  switch (next.what) {
    case NextEvent::What::look: return grant_looks(next.time);
    case NextEvent::What::receive: next.receive.receive->from = next.receive.from; return grant(*next.receive.receive);
    case NextEvent::What::death:
      if (!is_lost()) return revoke(next.death);
      break;
    case NextEvent::What::agreement:
      if (!is_lost()) return agree();
      break;
    case NextEvent::What::nothing: break;
  }
  end_run(detect(told(status_, mismatches_)));
}

// Everybody has finished in order, or those who sleep are woken to find that the run is over.
void Quiescence::end_run(const std::optional<Failure>& failure) {
  failure_ = failure;
  aborted_.store(true, std::memory_order_relaxed);
  fabric_.abort();
  for (const LiveStatus& status : status_) {
    if (!status.blocked_in) continue;
    status.blocked_in->phase.store(word(Phase::aborted), std::memory_order_release);
    engine_.wake(status.blocked_in->phase);
  }
}

void Quiescence::fail(const Failure& failure) {
  const MutexLock guard(lock_);
  if (!failure_) end_run(failure);
}

void Quiescence::finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) {
  RankStatus ended;
  ended.state = failure ? RankState::failed : RankState::finished;
  ended.failure = failure;
  ended.last_call = last_call;
  ended.last = last;
  const MutexLock guard(lock_);
  status_[static_cast<std::size_t>(rank)] = {std::move(ended), nullptr};
  note(rank, failure ? RankState::failed : RankState::finished);
  if (aborted()) return;
  --runnable_;
  go_on_or_judge();
}

// What it was blocked in, if anything, it is not any more: it runs.
void Quiescence::die(int rank, Nanos died) {
  const MutexLock guard(lock_);
  status_[static_cast<std::size_t>(rank)] = {};
  status_[static_cast<std::size_t>(rank)].told.state = RankState::dead;
  deaths_.add(rank, died);
  note(rank, RankState::dead);
  if (aborted()) return;
  --runnable_;
  go_on_or_judge();
}

void Quiescence::expect_deaths(Nanos detection) {
  const MutexLock guard(lock_);
  deaths_.set_detection(detection);
}

void Quiescence::agree_by(Agree agree) {
  const MutexLock guard(lock_);
  agree_ = std::move(agree);
}

Revocation Quiescence::revocation() {
  const MutexLock guard(lock_);
  return revocation_;
}

std::optional<Failure> Quiescence::failure() {
  const MutexLock guard(lock_);
  return failure_;
}

void Quiescence::note(int rank, RankState state) {
  if (black_box_) black_box_->entries[rank].state.store(static_cast<std::uint32_t>(state));
}

}  // namespace shardlings::front
