#include "front/group/meeting.h"

namespace shardlings::front {

// Relaxed: nobody else has the meeting yet (invariant 1), or any more (invariant 5). But for the last:
// MeetingPool::hold() asks for references without having one, and who finds some must not see the meeting as it was
// before.
void Meeting::reset(int members, int refs) {
  const auto n = static_cast<std::size_t>(members);
  if (records.size() != n) {
    records.resize(n);
    handles.resize(n);
    predecessors.resize(n);
  }
  posted.assign(n, 0);
  missing.store(members, std::memory_order_relaxed);
  phase.store(static_cast<std::uint32_t>(Phase::open), std::memory_order_relaxed);
  parked.store(0, std::memory_order_relaxed);
  resolved.store(false, std::memory_order_relaxed);
  has_successors.store(false, std::memory_order_relaxed);
  successors.clear();
  split.clear();
  asks = Asks::members;
  inbox = nullptr;
  agreed_on.reset();
  waiting_for = 0;
  next.store(nullptr, std::memory_order_relaxed);
  references.store(refs, std::memory_order_release);
}

int Meeting::rank_of(int member) const {
  if (asks != Asks::members) return (*group->members)[static_cast<std::size_t>(to)];
  const int in_group = message ? (member == 0 ? from : to) : member;
  return (*group->members)[static_cast<std::size_t>(in_group)];
}

}  // namespace shardlings::front
