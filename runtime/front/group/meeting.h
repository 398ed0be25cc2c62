/// \file
/// One operation of several ranks while it is under way, and the chain in which those of a group follow one another.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/group/control.h"
#include "front/group/mover.h"

namespace shardlings::front {

struct Meeting;

/// What came of an agreement on who lives, but for the group.
struct Agreed {
  std::shared_ptr<const std::vector<Count>> said;  ///< by member of the group
  bool is_new_group = false;                       ///< else it is that of the one before
};

/// What may be waiting for a receiver in one group, by sender in the group: the last message of that sender's that the
/// receiver has joined. The place moves on with every message; nullptr for the receiver itself.
using Inbox = std::vector<Meeting* const*>;

/// How far a meeting is; the word on which ranks sleep.
enum class Phase : std::uint32_t {
  open,     ///< somebody has not posted, or a lane's predecessor is unresolved
  agreed,   ///< all posted the same; times are known, and the data are on their way
  aborted,  ///< will never be agreed
  revoked   ///< nor will this, since a rank has died, but the run goes on
};

/// What a rank waits for alone, in a meeting of one member whose data it does not move.
enum class Asks : std::uint8_t {
  members,     ///< it is an operation: that its other members call it
  any_sender,  ///< a message, until it is known from which rank
  look,        ///< that nobody can do anything before `records[0].posted`
  agreement    ///< who lives, of all that do the same (Phase::agreed is another thing: an answer is there)
};

/// Where a rank stands in the chain of a group that it is in.
struct Seat {
  Membership in;
  Meeting* last = nullptr;  ///< the last meeting that it has joined
};

/// Invariants. "Its member" is the rank that has this member's ticket.
/// (1) The creator sets `group` to `link` and resets the rest before it puts the meeting into its predecessor's `next`
///     (release); others get at it only through there (acquire), so they see all of that.
/// (2) Entry m of `records`, `handles`, `predecessors` and `posted` is written by its member alone, which then takes
///     itself from `missing`. That is a read-modify-write with release and acquire, and such form one sequence: the
///     rank that brings it to 0 sees all entries. It alone compares them and tries to resolve. The misuse detector
///     reads entries of meetings that still miss somebody: it holds the lock under which every rank has blocked or
///     finished since.
/// (3) `resolved` is set once, after `start`, `end` and `split` (release), and only when every predecessor is resolved.
///     A rank that has seen it (acquire) may read those three.
/// (4) `phase` leaves `open` once. It becomes `agreed` after `resolved` and after the mover's launch.
/// (5) `references` counts: each member's place in the chain, each member's ticket, each lane whose last operation this
///     is or was when a successor posted. A rank that adds a reference holds one already, so adding needs no order,
///     except in MeetingPool::hold(). Dropping releases what the holder did here, and the last one acquires all of it
///     before the meeting is used again.
struct Meeting {
  Meeting(std::unique_ptr<back::Exchange> exchange, back::Engine& engine) : mover(std::move(exchange), engine) {}

  const GroupInfo* group = nullptr;
  std::uint64_t number = 0;  ///< in its chain, from 1
  bool message = false;
  int from = 0, to = 0;  ///< messages: ranks in the group
  /// Then `to` is the one member. Of any_sender the rank that knows sets `from`, then `phase`; of agreement likewise
  /// `end`, `split` and what else `agreed_on` says.
  Asks asks = Asks::members;
  const Inbox* inbox = nullptr;  ///< of any_sender
  std::optional<Agreed> agreed_on;
  Link link = Link::intra_node;

  // By member.
  std::vector<CallRecord> records;
  std::vector<back::DataHandle> handles;
  std::vector<Meeting*> predecessors;  ///< on the member's lane; nullptr if resolved already
  std::vector<std::uint8_t> posted;    ///< 1: yes
  std::atomic<int> missing{0};

  std::atomic<std::uint32_t> phase{0};
  std::atomic<int> parked{0};  ///< ranks that sleep on `phase`: see Quiescence
  std::atomic<bool> resolved{false};
  std::atomic<bool> has_successors{false};
  std::vector<Meeting*> successors;  ///< under SharedControl's lock of the queues
  int waiting_for = 0;               ///< unresolved predecessors; under the same lock
  Nanos start;
  Nanos end;

  Mover mover;
  std::vector<Seat> split;  ///< by member: its seat in its new group; no group for those who get none
  std::atomic<Meeting*> next{nullptr};
  std::atomic<int> references{0};

  int members() const { return static_cast<int>(records.size()); }
  void reset(int members, int references);
  const back::Signature& agreed() const { return agreed_signature(records); }
  /// World rank of a member.
  int rank_of(int member) const;
};

}  // namespace shardlings::front
