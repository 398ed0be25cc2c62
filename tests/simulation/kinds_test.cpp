// What a run of many ranks comes to.
#include "simulation/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::simulation {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

/// Four ranks of a second each: two are alike, though not neighbours.
front::RunReport report() {
  front::RunReport report;
  report.ranks.resize(4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    front::Counters& c = report.ranks[rank].counters;
    c.end = Nanos(1'000'000'000);
    c.busy[static_cast<std::size_t>(front::Lane::compute)] = Nanos(500'000'000);
    c.waited_for_peers = Nanos(250'000'000);
    c.exposed_transfer = Nanos(62'500'000);
    c.waited_for_host = Nanos(31'250'000);
    c.waited_for_store = Nanos(31'250'000);
    c.flops = Flops(1'000'000);
    c.peak = Bytes(rank % 2 == 0 ? 100 : 70 + static_cast<int>(rank));
    c.operations = 5;
  }
  return report;
}

TEST(Kinds, RanksThatCountedTheSameAreOne) {
  const front::RunReport of = report();
  const std::vector<KindOfRanks> kinds = kinds_of(of);
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_THAT(kinds[0].ranks, ElementsAre(0, 2));
  EXPECT_THAT(kinds[1].ranks, ElementsAre(1));
  EXPECT_THAT(kinds[2].ranks, ElementsAre(3));
  EXPECT_EQ(kinds[0].counters->peak, Bytes(100));
}

TEST(Kinds, SharesOfTimeAddUpToAll) {
  cases::Case kase;
  kase.ranks = 4;
  kase.model.layers = 0;
  kase.cluster.uses_table = false;
  kase.cluster.roofline.flops_per_second = 2e6;
  const Summary summary = summary_of(kase, report());
  EXPECT_EQ(summary.end, Nanos(1'000'000'000));
  EXPECT_THAT(summary.time.computing, DoubleEq(0.5));
  EXPECT_THAT(summary.time.waiting_for_peers, DoubleEq(0.25));
  EXPECT_THAT(summary.time.exposed_transfer, DoubleEq(0.0625));
  EXPECT_THAT(summary.time.waiting_for_host, DoubleEq(0.03125));
  EXPECT_THAT(summary.time.waiting_for_store, DoubleEq(0.03125));
  EXPECT_THAT(summary.time.after_the_end, DoubleEq(0.125));
  EXPECT_THAT(summary.peak_part, DoubleEq(0.5)) << "a million of the two million that each could have done";
  EXPECT_EQ(summary.operations, 20);
  EXPECT_EQ(summary.fullest, 0);
  EXPECT_EQ(summary.emptiest, 1);
}

}  // namespace
}  // namespace shardlings::simulation
