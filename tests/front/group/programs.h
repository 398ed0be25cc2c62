/// \file
/// Small worlds for tests of communication.
#pragma once

#include <functional>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::test {

/// A cluster on which every operation takes exactly one millisecond and links are what the test says.
inline world::Options world_of(int ranks, Nanos latency = Nanos(0), double bytes_per_second = 1e9,
                               int ranks_per_node = 64) {
  world::Options options;
  options.ranks = ranks;
  options.cluster.uses_table = false;
  options.cluster.roofline = {1e30, 1e30, 1e30, Nanos(1'000'000)};
  options.cluster.ranks_per_node = ranks_per_node;
  options.cluster.links = {front::LinkSpeed{latency, bytes_per_second}, front::LinkSpeed{latency, bytes_per_second}};
  return options;
}

inline constexpr std::int64_t kMs = 1'000'000;

/// Lets the rank's clock advance by `ms` milliseconds of computation.
inline void compute(Rank& rank, int ms) {
  Tensor t = rank.empty(1, Kind::other);
  for (int i = 0; i < ms; ++i) fill(t, 0);
}

}  // namespace shardlings::test
