/// \file
/// The control plane: how ranks learn of one another's calls, wait for them, and find out that nobody can go on.
///
/// Apart from the data plane (mover.h, back/fabric): what travels here are a few numbers for each call, and no buffer.
/// An operation goes join() -> Mover::post() -> post() -> wait() -> Mover::finish() -> leave(). One implementation
/// serves ranks in one address space (SharedControl); others may pass the same calls on by messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "back/fabric/fabric.h"
#include "front/group/placement.h"
#include "front/misuse/call_record.h"
#include "front/trace/event.h"
#include "front/trace/failure.h"
#include "front/trace/lanes.h"

namespace shardlings::front {

class Mover;

/// A group. One object for all members of an address space, which never changes: with a copy for each rank, what
/// thousands of ranks know of their groups would grow with the square of their number.
struct GroupInfo {
  std::string name;
  GroupMembers members;  ///< world ranks, by rank in the group
  int running = 0;       ///< how many of them run: all, but in a folded run
  Placement placement;   ///< on the nodes
  /// The group's number on its first member. Together they name a group, and the same one in every run.
  std::uint32_t number = 0;
};

/// What one rank has of a group that it is in.
struct Membership {
  const GroupInfo* group = nullptr;  ///< belongs to the control plane, and lives as long
  std::int32_t member = 0;           ///< this rank's rank in the group
};

/// An operation as one member holds it, from join() to leave().
struct Ticket {
  std::uint64_t operation = 0;  ///< meaningful only to the Control that gave it
  std::int32_t member = 0;      ///< of a message: 0 sends, 1 receives
  Mover* mover = nullptr;       ///< of the operation's data, in this address space; never null
};

/// What all members have agreed on, and when it happens, in virtual time.
struct Outcome {
  Nanos start;  ///< all members were there and their lanes free
  Nanos end;
  Label label;                ///< receives: of the data
  back::Signature signature;  ///< of gather and scatter the root's
  /// By member: where its data are, as its data plane has said. Until leave().
  std::span<const back::DataHandle> handles;
};

/// What a split gives one member.
struct SplitOutcome {
  Nanos start;
  Nanos end;
  std::optional<Membership> made;  ///< nothing for color kNobody
};

/// That a rank has died, as all others are told of it.
struct PeerDeath {
  int rank = -1;
  Nanos died;
  Nanos known;  ///< when others can know of it
};

/// How often groups have been revoked, and for whom the last time.
struct Revocation {
  std::uint32_t number = 0;
  PeerDeath death;
};

/// Thrown where a rank waits, or would begin to: a rank has died, and all groups that were made before are revoked. It
/// is caught by whoever gives up what this rank has under way; the learner is told by PeerFailed.
struct Revoked {
  Revocation revocation;
};

/// What an agreement on who lives gives one member.
struct Agreement {
  Nanos time;
  std::optional<Membership> made;                  ///< nothing: the group of the one before, at first the world
  std::shared_ptr<const std::vector<Count>> said;  ///< by member of the group
};

/// Each rank numbers the groups that it is in, by itself: 0 is the world, then they count in the order in which its
/// splits gave them. `group` is such a number below.
class Control {
 public:
  virtual ~Control() = default;

  virtual Membership world(int rank) = 0;

  /// Takes this rank's seat in the next collective of the group. Never blocks.
  virtual Ticket join(int rank, std::uint32_t group) = 0;
  /// Takes the seat of sender or receiver, whichever this rank is, in the next message from `from` to `to` (ranks in
  /// the group). Never blocks.
  virtual Ticket join_message(int rank, std::uint32_t group, int from, int to) = 0;
  /// The member's call, and where its data are. Once for each ticket. Never blocks.
  virtual void post(int rank, const Ticket& ticket, const CallRecord& record, back::DataHandle data) = 0;
  /// Returns when all members have posted the same and its times are known. Throws Aborted if the run has failed or if
  /// nobody can go on (the report is then in failure()).
  virtual Outcome wait(int rank, const Ticket& ticket, Location at) = 0;
  /// Waits for a split, and leaves it. A rank is in one split at a time.
  virtual SplitOutcome wait_split(int rank, const Ticket& ticket, Location at) = 0;
  /// Of a receive from any other rank of the group, whose record this is: returns when it is known whose message it
  /// takes, with that rank in the group; the receiver then joins that message. It is the one that could be here first
  /// (see arrival_of() in any_sender.h), then the one of the lowest rank, as soon as nobody can send an earlier one any
  /// more. Throws as wait() does.
  virtual int wait_for_any(int rank, std::uint32_t group, const CallRecord& record, Location at) = 0;
  /// Returns when no rank can do anything any more before this time. Throws Aborted.
  virtual void wait_to_look(int rank, Nanos time, Location at) = 0;
  /// Agrees with all that neither are dead nor have finished on who they are. `posted` is the rank's clock. Throws
  /// Aborted.
  virtual Agreement agree(int rank, Nanos posted, Count says, Location at) = 0;
  /// The rank is dead from now on. What it has posted stays posted; finish() is not called for it.
  virtual void die(int rank, Nanos died) = 0;
  /// Changes only while every rank is blocked, has finished or is dead. wait(), wait_split() and wait_for_any() throw
  /// Revoked to those that are blocked in them; the others have to ask.
  virtual Revocation revocation() = 0;
  /// All members have posted the operation, and its times are known: a wait would return at once. What is revoked never
  /// comes to that.
  virtual bool is_agreed(int rank, const Ticket& ticket) = 0;
  /// This rank's lanes are free of what has been revoked.
  virtual void clear_lanes(int rank) = 0;
  /// The member's part is over: forgets the ticket. What a failed run had under way is never left.
  virtual void leave(int rank, const Ticket& ticket) = 0;
  /// For the trace of a run that has failed: when an operation ran for which this member has not waited; nothing if
  /// that was never decided. Only after the run.
  virtual std::optional<Outcome> known(const Ticket&) const { return std::nullopt; }

  /// The rank's virtual time begins anew: its lanes are free.
  virtual void restart_clock(int rank) = 0;

  /// The rank's function has returned, or has failed for this reason. `last_call` and `last` describe its last call.
  virtual void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) = 0;

  /// True once the run has failed: calls should stop.
  virtual bool aborted() const = 0;
  /// The primary error, once all ranks have finished.
  virtual std::optional<Failure> failure() = 0;
};

}  // namespace shardlings::front
