#include "front/group/meeting.h"

#include "base/parts.h"

namespace shardlings::front {

using back::Collective;

// All relaxed: nobody else has the meeting yet (invariant 1), or any more (invariant 5).
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
  waiting_for = 0;
  next.store(nullptr, std::memory_order_relaxed);
  references.store(refs, std::memory_order_relaxed);
}

const back::Plan& Meeting::agreed() const {
  const back::Plan& first = records[0].plan;
  return rooted() ? records[static_cast<std::size_t>(first.root)].plan : first;
}

bool Meeting::rooted() const {
  const Collective kind = records[0].plan.kind;
  return kind == Collective::gather || kind == Collective::scatter;
}

int Meeting::rank_of(int member) const {
  const int in_group = message ? (member == 0 ? from : to) : member;
  return group->members[static_cast<std::size_t>(in_group)];
}

int Meeting::member_of(int rank) const {
  for (int member = 0; member < members(); ++member) {
    if (rank_of(member) == rank) return member;
  }
  return -1;
}

int member_with_wrong_part(const Meeting& meeting) {
  const back::Plan& root = meeting.agreed();
  for (int member = 0; member < meeting.members(); ++member) {
    const Count part = -meeting.records[static_cast<std::size_t>(member)].plan.count;
    if (member != root.root && part != part_of(root.count, root.members, member).size()) return member;
  }
  return -1;
}

std::string disagreement(const Meeting& meeting) {
  const back::Plan& first = meeting.records[0].plan;
  for (const CallRecord& record : meeting.records) {
    if (record.plan.kind != first.kind) return "operations";
  }
  if (first.kind == Collective::barrier || first.kind == Collective::split) return "";
  for (const CallRecord& record : meeting.records) {
    if (record.plan.dtype != first.dtype) return "types";
    if (record.plan.root != first.root) return "roots";
    if (record.plan.reduce != first.reduce) return "reduction operators";
  }
  if (meeting.rooted()) return member_with_wrong_part(meeting) < 0 ? "" : "sizes";
  for (const CallRecord& record : meeting.records) {
    if (record.plan.count != first.count) return "sizes";
  }
  return "";
}

}  // namespace shardlings::front
