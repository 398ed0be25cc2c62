// Hybrid sharding on a cluster of two tiers: what it saves there, and what nodes are in the formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

std::vector<cases::Case> cases_of(const build::Toolchain& toolchain) {
  return cases::load_manifest(std::string(SHARDLINGS_SOURCE_FOLDER) + "/puzzles/14_hybrid_shard", toolchain.clusters)
      .cases;
}

std::int64_t end_of(const wire::Result& result) {
  EXPECT_EQ(result.ending, wire::Ending::finished) << result.explanation;
  std::int64_t end = 0;
  for (const front::RankReport& rank : result.report.ranks) end = std::max(end, rank.counters.end.value());
  return end;
}

// The budgets are what the solution needs, to the byte; on every case of the puzzle.
TEST(HybridShard, NeedsWhatTheFormulasSay) {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const Solution solution(toolchain, "14_hybrid_shard");
  for (const cases::Case& kase : cases_of(toolchain)) {
    SCOPED_TRACE(kase.name);
    const wire::Result result = solution.run(kase);
    ASSERT_EQ(result.ending, wire::Ending::finished) << result.explanation;
    for (int rank = 0; rank < kase.ranks; ++rank) {
      const front::Counters& counters = result.report.ranks[static_cast<std::size_t>(rank)].counters;
      const formulas::HybridBytes sent = formulas::hybrid_bytes(kase, rank);
      EXPECT_EQ(counters.peak.value(), formulas::hybrid_peak(kase, rank).total()) << "rank " << rank;
      EXPECT_EQ(counters.bytes_sent(), kase.steps * (sent.inside + sent.between).value()) << "rank " << rank;
    }
  }
}

Bytes sent_between(const wire::Result& result, std::size_t rank) {
  Bytes sent;
  for (const auto& [key, traffic] : result.report.ranks[rank].counters.traffic) {
    if (key.link == front::Link::inter_node) sent += traffic.sent;
  }
  return sent;
}

// On every case that has slow links and something to divide inside a node. Its hops between nodes are fewer; that makes
// it faster where they take long.
TEST(HybridShard, SendsLessThanFullShardingBetweenNodesInFewerHops) {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const Solution hybrid(toolchain, "14_hybrid_shard"), full(toolchain, "13_zero3_fsdp");
  int compared = 0;
  for (cases::Case kase : cases_of(toolchain)) {
    if (formulas::replicas_of(kase).ranks == 1 || formulas::node_of(kase).ranks == 1) continue;
    SCOPED_TRACE(kase.name);
    kase.cluster.links[static_cast<std::size_t>(front::Link::inter_node)].latency = Nanos(500'000);
    const wire::Result in_nodes = hybrid.run(kase), over_all = full.run(kase);
    EXPECT_LT(end_of(in_nodes), end_of(over_all));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(kase.ranks); ++rank) {
      EXPECT_LT(sent_between(in_nodes, rank), sent_between(over_all, rank));
    }
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

cases::Case four_ranks(int per_node) {
  cases::Case kase;
  kase.ranks = 4;
  kase.cluster.ranks_per_node = per_node;
  kase.model.layers = 2;
  kase.model.hidden = 3;
  kase.model.outputs = 2;
  kase.model.sequence = 2;
  kase.batch = 1;
  return kase;
}

// Layers of 12 and 8 weights. Rank 3 is the second of the second node: its parts are the second halves.
TEST(HybridBytes, CountEachClassOfLinks) {
  const formulas::HybridBytes sent = formulas::hybrid_bytes(four_ranks(2), 3);
  EXPECT_EQ(sent.inside.value().value(), 2 * 4 * (12 - 6) + 4 * (8 - 4) + 4 * (6 + 4))
      << "two gathers, one, two scatters";
  EXPECT_EQ(sent.between.value().value(), 4 * (6 + 4)) << "2 (R-1)/R = 1";
}

TEST(HybridBytes, AtItsEndsAreDataParallelAndZero3) {
  for (int rank = 0; rank < 4; ++rank) {
    const cases::Case alone = four_ranks(1), together = four_ranks(8);
    EXPECT_EQ(formulas::hybrid_bytes(alone, rank).inside.value(), Bytes(0));
    EXPECT_EQ(formulas::hybrid_bytes(alone, rank).between.value(), formulas::step_bytes(alone, rank, 0).value());
    EXPECT_EQ(formulas::hybrid_bytes(together, rank).inside.value(), formulas::step_bytes(together, rank, 3).value());
    EXPECT_EQ(formulas::hybrid_bytes(together, rank).between.value(), Bytes(0));
    EXPECT_EQ(formulas::hybrid_peak(together, rank).total(), formulas::step_peak(together, rank, 3).total());
  }
}

}  // namespace
}  // namespace shardlings::grading
