/// \file
/// The control plane: how ranks learn of one another's calls, wait for them, and find out that nobody can go on.
///
/// Apart from the data plane (back/fabric): what travels here are a few numbers per call. One implementation serves
/// ranks in one address space (SharedControl); others may pass the same calls on by messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "back/fabric/fabric.h"
#include "front/trace/event.h"
#include "front/trace/failure.h"
#include "front/trace/lanes.h"

namespace shardlings::front {

/// What a rank tells the others when it starts an operation: the fingerprint that must agree, and its clock.
struct CallRecord {
  back::Plan plan;
  Location at;
  std::uint64_t order = 0;  ///< number of the call on its rank
  Nanos posted;             ///< the rank's clock at the call
  Nanos lane_free;          ///< sends: when the sender's egress is free; else filled in by the control plane
  Label label;              ///< of the data sent
  std::int32_t color = 0;   ///< split
  std::int32_t key = 0;     ///< split
  std::string name;         ///< split: of the group to be; empty otherwise
};

/// A group as its members know it.
struct GroupInfo {
  std::uint32_t id = 0;
  std::string name;
  std::vector<int> members;  ///< world ranks, by rank in the group
  Link link = Link::intra_node;
};

/// A started operation as one member holds it; meaningful only to the Control that gave it.
using Ticket = std::uint64_t;

/// How an operation went, in virtual time.
struct Outcome {
  Nanos start;  ///< all members were there and their lanes free
  Nanos end;
  Label label;          ///< receives: of the data
  back::Marks marks{};  ///< on a lane of this rank's device
};

/// What a split gives one member.
struct SplitOutcome {
  Outcome time;
  std::optional<GroupInfo> group;  ///< nothing for color kNobody
};

class Control {
 public:
  virtual ~Control() = default;

  /// The group of all ranks; its id is 0.
  virtual const GroupInfo& world() = 0;

  /// Joins the next collective of the group, as the group's member `member`. Never blocks.
  virtual Ticket post(int rank, std::uint32_t group, int member, const CallRecord& record,
                      const back::Buffers& buffers) = 0;
  /// Joins the next message from `from` to `to` (ranks in the group), as one of the two. Never blocks.
  virtual Ticket post_message(int rank, std::uint32_t group, int from, int to, bool sends, const CallRecord& record,
                              const back::Buffers& buffers) = 0;
  /// Returns when the operation is complete on this rank, and forgets the ticket. Throws Aborted if the run has failed
  /// or if nobody can go on (the report is then in failure()).
  virtual Outcome wait(int rank, Ticket ticket, Location at) = 0;
  /// When an operation that nobody has waited for runs, as far as that is known: once the run is over.
  virtual std::optional<Outcome> known(Ticket) const { return std::nullopt; }
  /// Forgets a ticket that nobody will wait for.
  virtual void abandon(int rank, Ticket ticket) noexcept = 0;
  /// Waits for a split.
  virtual SplitOutcome wait_split(int rank, Ticket ticket, Location at) = 0;

  /// The rank's virtual time begins anew: its lanes are free.
  virtual void restart_clock(int rank) = 0;

  /// The rank's function has returned, or has failed for this reason. `calls` and `last` describe its last call.
  virtual void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last) = 0;

  /// True once the run has failed: calls should stop.
  virtual bool aborted() const = 0;
  /// The primary error, once all ranks have finished.
  virtual std::optional<Failure> failure() = 0;
};

}  // namespace shardlings::front
