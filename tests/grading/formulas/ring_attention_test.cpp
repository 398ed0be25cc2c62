// Costs of attention whose keys go round a ring: against counts by hand, and the closed form of its efficiency.
#include "grading/formulas/ring_attention.h"

#include <gtest/gtest.h>

namespace shardlings::grading::formulas {
namespace {

/// 1 flop a nanosecond, a byte a nanosecond, no latency.
cases::Case divided(int ranks, Count sequence, bool backward) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.batch = 1;
  kase.model.layers = 1;
  kase.model.hidden = 4;
  kase.model.heads = 2;
  kase.model.sequence = sequence;
  kase.numbers = {{"kv_heads", 1.0}, {"backward", backward ? 1.0 : 0.0}};
  kase.cluster.uses_table = false;
  kase.cluster.roofline = {1e9, 1e9, 1e18, Nanos(0)};
  for (front::LinkSpeed& link : kase.cluster.links) link = {Nanos(0), 1e9};
  return kase;
}

TEST(RingAttention, SendsAllKeysButOneRanks) {
  const cases::Case even = divided(4, 12, false), both = divided(4, 12, true), uneven = divided(3, 8, true);
  const Bytes block(2 * 3 * 2 * 4);  // keys and values of three positions, two wide
  EXPECT_EQ(RingAttention(even).sent().value(), 3 * block);
  EXPECT_EQ(RingAttention(both).sent().value(), 9 * block);
  EXPECT_EQ(RingAttention(uneven).sent().value(), 6 * block) << "as if all parts were as long as the longest";
}

TEST(RingAttention, HoldsTwoRanksKeys) {
  const cases::Case forward = divided(4, 12, false), both = divided(4, 12, true);
  const Bytes block(2 * 3 * 2 * 4), wide(3 * 4 * 4), sums(3 * 2 * 4);
  EXPECT_EQ(RingAttention(forward).peak().value(), 3 * block + 3 * wide + 2 * sums);
  EXPECT_EQ(RingAttention(both).peak().value(), 4 * wide + sums + 2 * block + 5 * block);
}

TEST(RingAttention, TakesWhatTheLastRankComputes) {
  const cases::Case kase = divided(4, 400, false);
  const RingAttention ring(kase);
  const std::int64_t own = 4 * 4 * (100 * 101 / 2), other = 4 * 4 * 100 * 100, merge = 3 * 100 * 4;
  EXPECT_EQ(ring.computing(false), Nanos(own + 3 * other + 4 * merge));
  EXPECT_EQ(ring.time().value(), ring.computing(false)) << "every hop hides";
}

/// Contiguous positions: c/2 of the work of a whole pair of parts on average, and c - 1/2 of it on the last rank.
TEST(RingAttention, HasTheEfficiencyOfContiguousPositions) {
  for (const int c : {2, 4, 8, 16}) {
    const cases::Case kase = divided(c, 2000 * c, false);
    const RingAttention ring(kase);
    double mean = 0, most = 0;
    for (int rank = 0; rank < c; ++rank) {
      double sum = 0;
      for (int of = 0; of < c; ++of) sum += static_cast<double>(ring.work(rank, of, false).value());
      mean += sum / c;
      most = std::max(most, sum);
    }
    EXPECT_NEAR(mean / most, c / (2.0 * c - 1), 1e-3) << c;
  }
}

TEST(RingAttention, WaitsForLinksThatAreSlower) {
  cases::Case kase = divided(3, 30, false);
  for (front::LinkSpeed& link : kase.cluster.links) link = {Nanos(7), 1e6};
  const RingAttention ring(kase);
  const Nanos hop = ring.hop(0);
  EXPECT_EQ(hop, Nanos(7 + 2 * 10 * 2 * 4 * 1000));
  // Both hops show, one behind the other, and then the last keys are looked at.
  EXPECT_EQ(ring.time().value(), 2 * hop + ring.work(2, 0, false) + ring.merging(2));
}

TEST(RingAttention, OfOneRankIsItsWork) {
  const cases::Case kase = divided(1, 10, true);
  const RingAttention ring(kase);
  EXPECT_EQ(ring.sent().value(), Bytes(0));
  EXPECT_EQ(ring.time().value(), ring.computing(false) + ring.computing(true));
}

}  // namespace
}  // namespace shardlings::grading::formulas
