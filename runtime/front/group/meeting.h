/// \file
/// One operation of several ranks while it is under way, and the chain in which those of a group follow one another.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "back/fabric/fabric.h"
#include "front/group/control.h"

namespace shardlings::front {

/// How far a meeting is; the word on which ranks sleep.
enum class Phase : std::uint32_t {
  open,    ///< somebody has not posted, or a lane's predecessor is unresolved
  ready,   ///< times are known; waiters move the data
  done,    ///< data in place
  aborted  ///< will never be done
};

/// Invariants
/// (1) `missing` counts members that have not posted. Whoever brings it to 0 compares the records and tries to resolve.
/// (2) `resolved` is set once, after start and end. It is set only when every predecessor is resolved.
/// (3) `phase` only grows.
/// (4) `references` counts: each member's place in the chain, each member's ticket, each lane whose last operation this
///     is or was when a successor posted. At 0 the meeting is used again.
struct Meeting {
  // What the creator sets before the others can see the meeting.
  const GroupInfo* group = nullptr;
  std::uint64_t number = 0;  ///< in its chain, from 1
  bool message = false;
  int from = 0, to = 0;  ///< messages: ranks in the group
  Link link = Link::intra_node;

  // By member: each writes its own entry, then takes itself from `missing`.
  std::vector<CallRecord> records;
  std::vector<std::uint64_t> cookies;
  std::vector<Meeting*> predecessors;  ///< on the member's lane; nullptr if resolved already
  std::unique_ptr<std::atomic<bool>[]> posted;
  std::atomic<int> missing{0};

  std::atomic<std::uint32_t> phase{0};
  std::atomic<int> parked{0};  ///< ranks that sleep on `phase`; changed under the control's lock
  std::atomic<bool> resolved{false};
  std::atomic<bool> has_successors{false};
  std::vector<Meeting*> successors;  ///< under the control's lock
  int waiting_for = 0;               ///< unresolved predecessors; under the control's lock
  bool mismatch = false;             ///< under the control's lock
  Nanos start;
  Nanos end;

  std::unique_ptr<back::Exchange> exchange;
  std::vector<const GroupInfo*> split;  ///< by member: its new group
  std::atomic<Meeting*> next{nullptr};
  std::atomic<int> references{0};

  int members() const { return static_cast<int>(records.size()); }
  void reset(int members, int references);
  /// The plan that all agree on: of gather and scatter the root's.
  const back::Plan& agreed() const;
  /// Gather or scatter: only the root knows the count of the whole, the others that of their part.
  bool rooted() const;
  /// World rank of a member, and back; -1 if that rank is none.
  int rank_of(int member) const;
  int member_of(int rank) const;
};

/// Of a gather or scatter: the first member whose count is not its part of the root's; -1 if all fit.
int member_with_wrong_part(const Meeting& meeting);

/// In what the members' records disagree ("sizes", "roots", …); empty if all agree.
std::string disagreement(const Meeting& meeting);

}  // namespace shardlings::front
