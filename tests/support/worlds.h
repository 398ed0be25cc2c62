/// \file
/// Every way in which ranks can run here, and what must be the same on all of them.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "world/world.h"

namespace shardlings::support {

using Body = std::function<void(Rank&)>;

/// How a world is disturbed, to bring missing waits to light.
struct Disturbance {
  std::uint64_t seed = 0;
  int max_delay_us = 0;
};

/// When values count as equal. NCCL rounds the sum of bf16 before a mean divides it, so what bf16 can hold may be off
/// by two of its steps; everything else is equal bit for bit. The real NCCL adds in an order of its own, too, and rounds
/// at each step: `any_order`.
enum class Equality : std::uint8_t { bits, bf16_steps, any_order };

inline std::string nothing_missing() {
  return "";
}

/// A combination of engine, device and fabric.
struct WorldKind {
  const char* name;
  int min_ranks;
  int max_ranks;
  bool own_arithmetic;  ///< it does not run the CPU's kernels
  front::RunReport (*run)(const world::Options& options, const Disturbance& disturbance, const Body& body);
  std::string (*missing)() = nothing_missing;  ///< why it cannot run here; empty if it can
  Equality equality = Equality::bits;
};
std::ostream& operator<<(std::ostream& out, const WorldKind& kind);

/// Threads with CPU devices first: what the others are compared with.
const std::vector<WorldKind>& world_kinds();

/// Computation and both classes of links take time, so that clocks have something to show. Four ranks in a node.
front::Cluster test_cluster();
world::Options options_for(int ranks);

/// Runs on this kind of world and on the first, and expects the same report (see expect_same). Fails the test if the
/// run failed. Returns the report of this kind. With a tolerance, numbers that were computed with other arithmetic may
/// differ by so much of the largest.
front::RunReport run_and_compare(const WorldKind& kind, const world::Options& options, const Disturbance& disturbance,
                                 const Body& body, double tolerance = 0);
/// Runs on this kind only; the run must succeed.
front::RunReport run_well(const WorldKind& kind, const world::Options& options, const Disturbance& disturbance,
                          const Body& body);

/// `what` says of which values.
void expect_values(const std::vector<float>& values, const std::vector<float>& expected, const std::string& what,
                   Equality equality = Equality::bits);

/// Counters, events, memory curves: equal bit for bit. Published values: as said, or within a tolerance.
void expect_same(const front::RunReport& report, const front::RunReport& reference, double tolerance = 0,
                 Equality equality = Equality::bits);

}  // namespace shardlings::support
