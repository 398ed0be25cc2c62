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

Cost product_of(Flops flops, Bytes traffic) {
  Cost cost;
  cost.flops = flops;
  cost.traffic = traffic;
  cost.matrix = true;
  return cost;
}

TEST(Efficiencies, WithoutThemSpeedsAreThePeaks) {
  Cluster cluster = machine();
  cluster.uses_table = false;
  cluster.roofline = {1e12, 8e12, 1e12, Nanos(100)};
  const CostModel costs(cluster);
  EXPECT_EQ(costs.operation(product_of(Flops(1'000'000), Bytes(0))), Nanos(1'100));
  EXPECT_EQ(costs.occupancy(Bytes(400'000), Link::intra_node), Nanos(1'000));
}

TEST(Efficiencies, AreWhatIsReachedOfThePeaks) {
  Cluster cluster = machine();
  cluster.uses_table = false;
  cluster.roofline = {1e12, 8e12, 1e12, Nanos(100)};
  cluster.efficiency = {0.5, 0.25, 0.8, 0.4};
  const CostModel costs(cluster);
  EXPECT_EQ(costs.operation(product_of(Flops(1'000'000), Bytes(0))), Nanos(2'100));
  EXPECT_EQ(costs.operation(product_of(Flops(0), Bytes(1'000'000))), Nanos(4'100));
  EXPECT_EQ(costs.occupancy(Bytes(400'000), Link::intra_node), Nanos(1'250));
  EXPECT_EQ(costs.occupancy(Bytes(50'000), Link::inter_node), Nanos(2'500));
}

TEST(Precision, OfProgramsInF32IsWhatTensorsWeigh) {
  for (int kind = 0; kind < kNumKinds; ++kind) {
    EXPECT_EQ(weight(10, DType::f32, static_cast<Kind>(kind), false), Bytes(40));
    EXPECT_EQ(weight(10, DType::bf16, static_cast<Kind>(kind), true), Bytes(20));
    EXPECT_EQ(weight(10, DType::i32, static_cast<Kind>(kind), true), Bytes(40));
  }
  EXPECT_EQ(weight(10, DType::f32, Kind::activation, true), Bytes(20));
  EXPECT_EQ(weight(10, DType::f32, Kind::other, true), Bytes(40));
}

// Rajbhandari et al. 2020: 2 + 2 + 12 bytes of a parameter with Adam.
TEST(Precision, StatesOfAParameterWeighSixteenBytes) {
  const Bytes states = weight(1, DType::f32, Kind::parameter, true) + weight(1, DType::f32, Kind::gradient, true) +
                       weight(2, DType::f32, Kind::optimizer, true);
  EXPECT_EQ(states, Bytes(16));
  const Bytes kept = weight(1, DType::f32, Kind::gradient, true, true);
  EXPECT_EQ(kept, Bytes(4)) << "Megatron-LM's sums of gradients";
  EXPECT_EQ(weight(1, DType::bf16, Kind::gradient, true, true), Bytes(2));
  EXPECT_EQ(weight(1, DType::f32, Kind::parameter, true, true), Bytes(2));
}

TEST(Precision, MixedHalvesWhatTravelsAndMultipliesOnTheMatrixUnits) {
  Cluster cluster = machine();
  cluster.uses_table = false;
  cluster.roofline = {1e12, 8e12, 1e12, Nanos(0)};
  const CostModel f32(cluster);
  cluster.mixed = true;
  const CostModel mixed(cluster);
  EXPECT_EQ(f32.operation(product_of(Flops(8'000'000), Bytes(0))), Nanos(8'000));
  EXPECT_EQ(mixed.operation(product_of(Flops(8'000'000), Bytes(0))), Nanos(1'000));
  EXPECT_EQ(f32.on_wire(Bytes(400), DType::f32), Bytes(400));
  EXPECT_EQ(mixed.on_wire(Bytes(400), DType::f32), Bytes(200));
  EXPECT_EQ(mixed.on_wire(Bytes(400), DType::bf16), Bytes(400));
  Cluster rings = machine();
  rings.mixed = true;
  EXPECT_EQ(time_of(rings, Collective::all_gather, 8'000'000, 8, kNode) - 7 * 3'000,
            (time_of(machine(), Collective::all_gather, 8'000'000, 8, kNode) - 7 * 3'000) / 2);
}

// Llama 3's storage sustains 2 TB/s, which 16,384 GPUs share (cluster.h says where that stands).
TEST(Store, WithoutNumbersIsOneRanksShareOfLlama3s) {
  const double seconds = 1e9 / (2e12 / 16'384);
  const CostModel costs(machine());
  const Nanos transfer = costs.store(Bytes(1'000'000'000)) - costs.store_latency();
  EXPECT_NEAR(static_cast<double>(transfer.value()) / 1e9, seconds, 0.001 * seconds);
  EXPECT_EQ(costs.store_latency(), Nanos(1'000'000));
}

}  // namespace
}  // namespace shardlings::front
