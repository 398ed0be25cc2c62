/// \file
/// What is counted on a rank. Plain data, shared with grading.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "back/fabric/fabric.h"
#include "base/units.h"
#include "front/trace/lanes.h"
#include "front/trace/memory_use.h"

namespace shardlings::front {

using back::Collective;

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
  // the store
  std::array<Copies, kStoreAccesses> store{};  ///< by StoreAccess
  std::int64_t renames = 0;                    ///< folders published
  // virtual time
  Nanos end;
  std::array<Nanos, kLanes> busy{};
  Nanos waited_for_peers;
  Nanos exposed_transfer;
  Nanos overlapped_transfer;
  Nanos waited_for_host;      ///< stood still for copies and for the host's work
  Nanos waited_for_store;     ///< stood still for writes, reads and answers of the store
  std::optional<Nanos> died;  ///< when the rank has died; then `end`, too

  bool operator==(const Counters&) const = default;

  Bytes bytes_sent() const;
  /// Sent by one kind of operation, in all groups or in one.
  Bytes bytes_sent(Collective kind) const;
  std::int64_t calls(Collective kind) const;
};

}  // namespace shardlings::front
