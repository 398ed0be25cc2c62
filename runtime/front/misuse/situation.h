/// \file
/// A world in which nobody can go on, as the misuse detector is told of it: plain data, apart from the control plane
/// that it was taken from.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "front/misuse/black_box.h"
#include "front/misuse/call_record.h"
#include "front/trace/failure.h"

namespace shardlings::front {

/// An operation of several ranks: what its members have called, and what holds it up.
struct ToldOperation {
  std::string group;
  /// The group's first member, and that rank's number of the group: they name a group, the same one in every run.
  int group_first = 0;
  std::uint32_t group_number = 0;
  /// In the group, or of the messages between the two, from 1; collectives as the learner counts them.
  std::uint64_t number = 0;
  bool message = false;
  int from = 0, to = 0;  ///< messages: ranks in the group
  /// A receive from any rank that has been given no message: its first member receives, the others could send.
  bool from_any = false;
  /// Its first member waits to agree with all others that live on who they are; the others have not called it.
  bool agreement = false;

  // By member; of a message from one rank the first one sends.
  std::vector<int> ranks;  ///< in the world
  std::vector<CallRecord> records;
  std::vector<bool> posted;  ///< its record says something
  /// What is unresolved before it on the member's link; nullptr: nothing.
  std::vector<const ToldOperation*> queued_behind;

  int members() const { return static_cast<int>(ranks.size()); }
  int rank_of(int member) const { return ranks[static_cast<std::size_t>(member)]; }
  /// -1 if that rank is no member.
  int member_of(int rank) const;
};

/// What a rank is doing.
struct RankStatus {
  RankState state = RankState::running;
  const ToldOperation* blocked_in = nullptr;
  std::int32_t member = 0;         ///< blocked: its own in the operation
  Location at;                     ///< blocked: where it waits
  std::optional<Failure> failure;  ///< failed: with what
  std::string last_call;           ///< finished or failed: what it called last, and where
  Location last;
};

struct Situation {
  std::vector<RankStatus> ranks;
  std::vector<const ToldOperation*> mismatches;  ///< complete, but contradictory
  std::deque<ToldOperation> operations;          ///< those that the above speak of; they stay where they are
};

}  // namespace shardlings::front
