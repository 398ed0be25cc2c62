/// \file
/// What a run leaves behind on every rank: events and counters. Plain data, shared with grading.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "back/fabric/fabric.h"
#include "base/dtype.h"
#include "base/units.h"
#include "shardlings/location.h"

namespace shardlings::front {

using back::Collective;

/// Where time passes on a rank: its program, its links (ranks inside a node are joined by other links than nodes are),
/// the two directions of its link with the host, and the host's processor.
enum class Lane : std::uint8_t { compute, intra_node, inter_node, to_host, to_device, host };
inline constexpr int kLanes = 6;
/// The class of a link: which communication lane an operation uses.
enum class Link : std::uint8_t { intra_node, inter_node };
inline constexpr int kLinks = 2;
/// The memories of a rank.
enum class Memory : std::uint8_t { device, host };
inline constexpr int kMemories = 2;
/// The direction of a copy between the device's memory and the host's.
enum class HostLink : std::uint8_t { to_host, to_device };
inline constexpr int kHostLinks = 2;

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
  copy   ///< between the device's memory and the host's, or inside the host's
};
inline constexpr int kEventKinds = 10;

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

/// Bytes and calls of one kind of communication in one group over one class of link.
struct Traffic {
  std::int64_t calls = 0;
  Bytes sent;
  Bytes received;
  auto operator<=>(const Traffic&) const = default;
};

struct TrafficKey {
  Collective kind = Collective::barrier;
  std::string group;
  Link link = Link::intra_node;
  auto operator<=>(const TrafficKey&) const = default;
};

using KindBytes = std::array<Bytes, kNumKinds>;

/// How full one of a rank's memories is and was.
struct MemoryUse {
  Bytes live;
  KindBytes live_by_kind{};
  Bytes peak;
  KindBytes peak_by_kind{};  ///< what was alive at the peak
  std::string peak_file;
  int peak_line = 0;

  bool operator==(const MemoryUse&) const = default;
};

/// Copies in one direction.
struct Copies {
  std::int64_t calls = 0;
  Bytes bytes;
  bool operator==(const Copies&) const = default;
};

/// Everything that is counted on one rank. Two runs of one case have equal counters, on every backend. Memory of which
/// nothing is said is the device's.
struct Counters : MemoryUse {
  // memory
  MemoryUse host;               ///< this rank's part of the host's memory
  std::int64_t saved_peak = 0;  ///< most Saved alive at once
  // work, of the device and of the host
  Flops flops;
  std::int64_t operations = 0;
  std::int64_t layer_forwards = 0;
  std::int64_t layer_backwards = 0;
  // communication
  std::map<TrafficKey, Traffic> traffic;
  Bytes sent_to_host;  ///< read by the host
  std::int64_t host_reads = 0;
  std::array<Copies, kHostLinks> copies{};  ///< between the memories, by HostLink
  // virtual time
  Nanos end;
  std::array<Nanos, kLanes> busy{};
  Nanos waited_for_peers;
  Nanos exposed_transfer;
  Nanos overlapped_transfer;
  Nanos waited_for_host;  ///< stood still for copies and for the host's work

  bool operator==(const Counters&) const = default;

  Bytes bytes_sent() const;
  /// Sent by one kind of operation, in all groups or in one.
  Bytes bytes_sent(Collective kind) const;
  std::int64_t calls(Collective kind) const;
};

/// One point of a rank's memory curve: after every change of live memory, in program order.
struct MemoryPoint {
  Nanos time;
  KindBytes live{};
};

struct RankTrace {
  std::vector<Event> events;
  std::vector<MemoryPoint> memory;       ///< of the device
  std::vector<MemoryPoint> host_memory;  ///< of the host
  std::vector<std::string> names;
  std::vector<std::string> groups;
  std::vector<std::vector<int>> members;                 ///< of each group: world ranks in its order
  std::shared_ptr<const std::deque<std::string>> files;  ///< read back from a file: what Event::at points to
};

/// Why a run failed: the primary error, the same on every run of the same program.
struct Failure {
  std::string type;  ///< mismatch, deadlock, desertion, race, leak, out_of_memory, invalid_argument,
                     ///< not_implemented, exception
  int rank = -1;
  std::string message;  ///< all lines, ready to print
  std::string file;
  int line = 0;
  Nanos time;
};

}  // namespace shardlings::front
