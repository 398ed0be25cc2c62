// What the graders of sharded training share: their bytes and times against those that runs are counted by, and sums of
// gradients and losses against the reference.
#include "grading/formulas/sharding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "front/clock/cost.h"
#include "front/group/placement.h"
#include "front/group/ring_traffic.h"

namespace shardlings::grading {
namespace {

using back::Collective;

/// Layers whose sizes few numbers of ranks divide.
cases::Case uneven_case(int ranks) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.batch = 2;
  kase.micro_batches = 3;
  kase.uneven_tokens = true;
  kase.model.layers = 3;
  kase.model.hidden = 5;
  kase.model.widths = {7, 2};
  kase.model.outputs = 3;
  kase.model.sequence = 4;
  kase.cluster.ranks_per_node = 64;
  kase.cluster.links[0] = {Nanos(70), 3e8};
  return kase;
}

back::Signature signature_of(Collective kind, Count count, int ranks) {
  back::Signature signature;
  signature.kind = kind;
  signature.count = count;
  signature.members = ranks;
  return signature;
}

std::int64_t counted(Collective kind, Count count, int ranks, int rank) {
  return front::ring_traffic_of(signature_of(kind, count, ranks), rank).sent.value();
}

class Sharding : public testing::TestWithParam<int> {};

TEST_P(Sharding, BytesAreThoseThatRunsCount) {
  const int ranks = GetParam();
  const cases::Case kase = uneven_case(ranks);
  const std::vector<formulas::LayerBytes> layers = formulas::layer_bytes(kase);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Count count = layers[l].weights / 4;
      EXPECT_EQ(formulas::reduce_scatter_bytes(kase, rank)[l], counted(Collective::reduce_scatter, count, ranks, rank));
      EXPECT_EQ(formulas::all_gather_bytes(kase, rank)[l], counted(Collective::all_gather, count, ranks, rank));
      EXPECT_EQ(formulas::all_reduce_bytes(kase, count, rank), counted(Collective::all_reduce, count, ranks, rank));
    }
    EXPECT_EQ(formulas::all_reduce_bytes_of_one(kase, rank), counted(Collective::all_reduce, 1, ranks, rank));
  }
}

TEST_P(Sharding, PartsMakeTheWhole) {
  const cases::Case kase = uneven_case(GetParam());
  std::int64_t sum = 0;
  for (int rank = 0; rank < GetParam(); ++rank) sum += formulas::sum_of(formulas::part_bytes(kase, rank));
  EXPECT_EQ(sum, formulas::weight_bytes(formulas::layer_bytes(kase)));
}

/// The ring formulas give what the clock takes, for ranks in order on nodes of so many.
void expect_times_of_the_clock(int ranks, int per_node) {
  SCOPED_TRACE(per_node);
  cases::Case kase = uneven_case(ranks);
  kase.cluster.ranks_per_node = per_node;
  kase.cluster.links[1] = {Nanos(900), 1e8};  // three of these ports are as fast as a link inside
  const front::CostModel model(kase.cluster);
  std::vector<int> world(static_cast<std::size_t>(ranks));
  std::iota(world.begin(), world.end(), 0);
  const front::Spread spread = front::placement_of(world, model).spread;
  const std::vector<formulas::LayerBytes> layers = formulas::layer_bytes(kase);
  const auto cost = [&](Collective kind, Count count) {
    return model.collective(signature_of(kind, count, ranks), spread).value();
  };
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Count count = layers[l].weights / 4;
    EXPECT_EQ(formulas::ring_times(kase)[l], cost(Collective::all_gather, count));
    EXPECT_EQ(formulas::ring_times(kase)[l], cost(Collective::reduce_scatter, count));
    EXPECT_EQ(formulas::all_reduce_time(kase, count), cost(Collective::all_reduce, count));
  }
  EXPECT_EQ(formulas::all_reduce_time_of_one(kase), cost(Collective::all_reduce, 1));
}

TEST_P(Sharding, TimesAreThoseOfTheClock) {
  for (const int per_node : {1, 2, 3, 4, 64}) expect_times_of_the_clock(GetParam(), per_node);
}

TEST_P(Sharding, LossesOfTheRanksAddUp) {
  const cases::Case kase = uneven_case(GetParam());
  const std::vector<double> shares = formulas::loss_shares(kase);
  ASSERT_EQ(shares.size(), static_cast<std::size_t>(GetParam()));
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), reference::train_reference(kase).loss, 1e-12);
}

TEST_P(Sharding, GradientsOfMicroBatchesAddUp) {
  const cases::Case kase = uneven_case(GetParam());
  reference::Layers sum = formulas::gradient_of_micro(kase, 0);
  for (int micro = 1; micro < kase.micro_batches; ++micro)
    sum = formulas::combine(sum, 1, formulas::gradient_of_micro(kase, micro));
  const reference::Layers expected = reference::train_reference(kase).grads;
  for (std::size_t l = 0; l < expected.size(); ++l) {
    for (std::size_t i = 0; i < expected[l].size(); ++i) EXPECT_NEAR(sum[l][i], expected[l][i], 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sharding, testing::Range(1, 10));

TEST(Overlaps, IsAskedOfEachPair) {
  std::uint64_t drawn = 0;
  const auto events = [&](std::size_t n) {
    std::vector<front::Event> all(n);
    for (front::Event& event : all) {
      event.begin = Nanos(static_cast<std::int64_t>(below_at(40, 7, drawn++)));
      event.end = event.begin + Nanos(static_cast<std::int64_t>(below_at(4, 7, drawn++)));
    }
    return all;
  };
  int overlapping = 0;
  for (std::size_t turn = 0; turn < 500; ++turn) {
    const std::vector<front::Event> transfers = events(turn % 4), work = events(turn % 5);
    bool expected = false;
    for (const front::Event& a : transfers) {
      for (const front::Event& b : work) expected = expected || (b.begin < a.end && a.begin < b.end);
    }
    EXPECT_EQ(formulas::overlaps(transfers, work), expected) << "turn " << turn;
    if (expected) ++overlapping;
  }
  EXPECT_GT(overlapping, 50);
}

TEST(FromParts, TakesEachPartFromItsOwner) {
  cases::Case kase;
  kase.ranks = 3;
  const std::vector<reference::Layers> gradients = {{{0, 0, 0, 0}, {0}}, {{1, 1, 1, 1}, {1}}, {{2, 2, 2, 2}, {2}}};
  EXPECT_EQ(formulas::from_parts(kase, gradients), (reference::Layers{{0, 0, 1, 2}, {0}}));
}

}  // namespace
}  // namespace shardlings::grading
