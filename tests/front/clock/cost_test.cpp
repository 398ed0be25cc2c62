// Which algorithm a collective takes on a machine that has several, and what it costs.
#include "front/clock/cost.h"

#include <gtest/gtest.h>

namespace shardlings::front {
namespace {

using back::Collective;

constexpr Spread kNode{1, 8, true};

/// Hops of 3 and 10 us, of 28 and 50 in trees; 400 GB/s inside, and 50 GB/s for each of 8 ports.
Cluster machine() {
  Cluster cluster;
  cluster.links = {LinkSpeed{Nanos(3'000), 400e9}, LinkSpeed{Nanos(10'000), 50e9}};
  cluster.trees = {Nanos(28'000), Nanos(50'000), 0.9};
  return cluster;
}

std::int64_t time_of(const Cluster& cluster, Collective kind, Count count, int members, const Spread& spread) {
  back::Signature signature;
  signature.kind = kind;
  signature.count = count;
  signature.members = members;
  return CostModel(cluster).collective(signature, spread).value();
}

TEST(Algorithms, SmallAllReducesOfManyRanksTakeTheTree) {
  const Spread nodes{2048, 8, true};
  const std::int64_t hops = 2 * (7 * 28'000 + 11 * 50'000);
  EXPECT_EQ(time_of(machine(), Collective::all_reduce, 1, 16'384, nodes), hops);
  const double bytes = 4e6;
  EXPECT_EQ(time_of(machine(), Collective::all_reduce, 1'000'000, 16'384, nodes),
            hops + static_cast<std::int64_t>(2 * bytes / (0.9 * 400) + 0.5));
}

TEST(Algorithms, LargeAllReducesOfFewRanksTakeTheRing) {
  const Spread nodes{2, 8, true};
  const Count count = 16 * 100'000'000;
  const std::int64_t hops = 2 * (14 * 3'000 + 1 * 10'000);
  EXPECT_EQ(time_of(machine(), Collective::all_reduce, count, 16, nodes), hops + 30 * 1'000'000);
}

TEST(Algorithms, OneNodeTakesTheRing) {
  Cluster rings = machine();
  rings.trees = {};
  for (const Count count : {1, 1000, 10'000'000}) {
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::broadcast}) {
      EXPECT_EQ(time_of(machine(), kind, count, 8, kNode), time_of(rings, kind, count, 8, kNode));
    }
  }
}

TEST(Algorithms, OneRankOfEachNodeGathersInFewHops) {
  const Spread replicas{100, 1, false};
  for (const Collective kind : {Collective::all_gather, Collective::reduce_scatter}) {
    EXPECT_EQ(time_of(machine(), kind, 100 * 12'500, 100, replicas), 7 * 10'000 + 99 * 1'000);
  }
  EXPECT_EQ(time_of(machine(), Collective::all_gather, 800 * 100'000, 800, {100, 8, true}),
            99 * 10'000 + 700 * 3'000 + 799 * 1'000);
}

TEST(Algorithms, ASwitchThatAddsTakesEverythingOnce) {
  Cluster cluster = machine();
  cluster.links[0].reduces = true;
  EXPECT_EQ(time_of(cluster, Collective::all_reduce, 100'000'000, 8, kNode), 2 * 3'000 + 1'000'000);
  EXPECT_EQ(time_of(machine(), Collective::all_reduce, 100'000'000, 8, kNode), 14 * (3'000 + 125'000));
}

TEST(Algorithms, NoneIsSlowerThanRingsAlone) {
  Cluster rings = machine();
  rings.trees = {};
  for (const int nodes : {1, 2, 3, 17, 512}) {
    for (const int rails : {1, 2, 8}) {
      if (nodes * rails == 1) continue;
      const Spread spread{nodes, rails, rails > 1};
      for (const Count count : {Count{1}, Count{100'000}, Count{1} << 30}) {
        for (int kind = 0; kind < back::kCollectives - 1; ++kind) {
          const auto of = static_cast<Collective>(kind);
          EXPECT_LE(time_of(machine(), of, count, nodes * rails, spread),
                    time_of(rings, of, count, nodes * rails, spread));
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardlings::front
