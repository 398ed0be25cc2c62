/// \file
/// What a run leaves behind of its course: events, and the curve of each memory. Plain data, shared with grading.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "front/trace/lanes.h"
#include "front/trace/memory_use.h"
#include "shardlings/location.h"

namespace shardlings::front {

/// What an event shows. Kept runs hold these as numbers: new ones come last.
enum class EventKind : std::uint8_t {
  forward,
  backward,
  loss,
  update,     ///< a call of the model; on the host's lane: an optimizer's work there
  operation,  ///< a single operation
  collective,
  send,
  recv,  ///< communication
  wait,  ///< the program stood still for communication (peers, then transfer), for a copy or for the host
  copy,  ///< between the device's memory and the host's, or inside the host's
  backward_input,
  backward_weights  ///< the halves of a backward
};
inline constexpr int kEventKinds = 12;

/// Which data an event or a saved activation is about; -1: none.
struct Label {
  std::int32_t micro = -1;
  std::int32_t layer = -1;
};

/// One operation of one rank in virtual time.
struct Event {
  EventKind kind = EventKind::operation;
  Lane lane = Lane::compute;
  std::uint8_t depth = 0;   ///< 1: inside a call of the model
  std::uint16_t name = 0;   ///< index into RankTrace::names ("matmul", "all_reduce", …)
  std::int32_t group = -1;  ///< index into RankTrace::groups
  /// World rank of the other side of a message; of a collective the rank that gets what this one sends, if one does.
  std::int32_t peer = -1;
  Label label;
  Location at;
  std::uint64_t order = 0;  ///< number of the call on this rank
  Nanos begin;
  Nanos end;
  Nanos posted;  ///< communication, copies, host: when this rank called; communication starts when all have
  Bytes bytes;   ///< sent by this rank, or copied
  Flops flops;
  Bytes live_after;  ///< device memory of the rank after the call
  /// What it really took, in nanoseconds since the measured part of the run began; -1: not measured. No two runs agree.
  Nanos measured_begin{-1};
  Nanos measured_end{-1};
};

/// That the program stood still from `now` until the end of what `event` shows, in a wait at `at`.
inline Event waiting(Event event, Nanos now, Location at) {
  event.kind = EventKind::wait;
  event.lane = Lane::compute;
  event.at = at;
  event.begin = now;
  event.posted = now;
  event.bytes = Bytes(0);
  event.flops = Flops(0);
  return event;
}

/// World ranks of a group in its order: one list for all of its members, as with a copy for each rank a run's lists
/// would grow with the square of its ranks.
using GroupMembers = std::shared_ptr<const std::vector<int>>;

struct RankTrace {
  std::vector<Event> events;
  std::vector<MemoryPoint> memory;       ///< of the device
  std::vector<MemoryPoint> host_memory;  ///< of the host
  std::vector<std::string> names;
  std::vector<std::string> groups;
  std::vector<GroupMembers> members;                     ///< of each group; null where they are not known
  std::shared_ptr<const std::deque<std::string>> files;  ///< read back from a file: what Event::at points to
};

/// The members of group `index` of a trace; none where they are not known.
inline const std::vector<int>& members_of(const RankTrace& trace, std::size_t index) {
  static const std::vector<int> kNone;
  return index < trace.members.size() && trace.members[index] ? *trace.members[index] : kNone;
}

}  // namespace shardlings::front
