// Closed forms of a step on a grid of ranks: the solution of puzzle 33, on random grids, against the judge's formulas.
#include "grading/formulas/grid_step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "grading/formulas/beside_solution.h"
#include "grading/formulas/grid_norm.h"
#include "submission/wire/output_pack.h"
#include "world/world.h"

// A namespace keeps its train_step and harness apart from those of other puzzles.
// NOLINTBEGIN(bugprone-suspicious-include)
namespace grid_of_ranks {
#include "../../puzzles/33_three_d_parallel/harness.cpp"
#include "../../solutions/33_three_d_parallel/solution.cpp"
}  // namespace grid_of_ranks
// NOLINTEND(bugprone-suspicious-include)

namespace shardlings::grading {
namespace {

cases::Case grid_case(int t, int p, int d, int v, int micro_batches) {
  cases::Case kase;
  kase.ranks = t * p * d;
  kase.batches = d;
  kase.batch = 1;
  kase.micro_batches = micro_batches;
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = (p * v < 3 ? 4 : p * v) - 2;  // with embedding and head one layer for each stage, or two
  kase.model.hidden = 6;
  kase.model.heads = 3;
  kase.model.sequence = 3;
  kase.model.outputs = 7;
  kase.model.tied = true;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.clip = 0.1F;
  kase.numbers = {{"t", t}, {"p", p}, {"d", d}, {"v", v}};
  kase.cluster.uses_table = true;
  kase.cluster.table = {Nanos(1'000'000), Nanos(2'000'000), Nanos(0), Nanos(0)};
  kase.cluster.links = {front::LinkSpeed{Nanos(0), 1e18}, front::LinkSpeed{Nanos(0), 1e18}};
  return kase;
}

front::RunReport run_grid(const cases::Case& kase) {
  world::Options options;
  options.ranks = kase.ranks;
  options.cluster = kase.cluster;
  front::RunReport report = world::run(options, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    grid_of_ranks::shardlings_harness(harness);
  });
  if (report.failure) ADD_FAILURE() << report.failure->message;
  return report;
}

std::int64_t sent_in(const front::Counters& counters, const std::vector<std::string>& groups) {
  std::int64_t bytes = 0;
  for (const auto& [key, traffic] : counters.traffic) {
    if (std::count(groups.begin(), groups.end(), key.group) > 0) bytes += traffic.sent.value();
  }
  return bytes;
}

class RandomGrids : public testing::TestWithParam<int> {
 protected:
  int between(int first, int last) {
    const auto width = static_cast<std::uint32_t>(last - first + 1);
    return first + static_cast<int>(below_at(width, static_cast<std::uint64_t>(GetParam()), next_++));
  }
  cases::Case random_case() {
    const int p = between(1, 4), v = p > 1 ? between(1, 3) : 1;
    return grid_case(between(1, 3), p, between(1, 2), v, v > 1 ? p * between(1, 2) : between(1, 6));
  }

 private:
  std::uint64_t next_ = 0;
};

TEST_P(RandomGrids, CostWhatTheFormulasSay) {
  const cases::Case kase = random_case();
  const front::RunReport report = run_grid(kase);
  std::int64_t end = 0;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const formulas::GridRank own(kase, rank);
    SCOPED_TRACE(fmt::format("t {} p {} d {} v {} m {}, rank {}", own.t, own.p, own.d, own.v, own.pipeline.m, rank));
    const front::Counters& counters = report.ranks.at(static_cast<std::size_t>(rank)).counters;
    EXPECT_EQ(counters.peak, formulas::peak_of(kase, own).value());
    std::int64_t sent = 0;
    for (const auto& [groups, budget] : formulas::bytes_of_groups(kase, own)) {
      EXPECT_EQ(sent_in(counters, groups), budget.value().value()) << groups.front() << ": " << budget.text();
      sent += budget.value().value();
    }
    EXPECT_EQ(counters.bytes_sent().value(), sent);
    end = std::max(end, counters.end.value());
  }
  EXPECT_EQ(end, formulas::step_time(kase, formulas::GridRank(kase, 0).pipeline).value().value());
}

TEST_P(RandomGrids, CountEachNumberOnceInTheNorm) {
  const cases::Case kase = random_case();
  const reference::Reference reference = reference::train_reference(kase);
  const formulas::GridNorm norm(kase, reference);
  EXPECT_NEAR(norm.right(), reference.norms.front(), 1e-9 * norm.right());
  EXPECT_EQ(norm.mistake_behind(std::min(1.0, kase.model.clip / norm.right()) / 3), "") << "nobody's norm";
}

/// The largest share of its tolerance that any number of a layer uses.
double used(const std::map<std::string, wire::Output>& outputs, const std::string& name,
            const reference::Layers& expected, const reference::Layers& tolerance) {
  double most = 0;
  for (std::size_t l = 0; l < expected.size(); ++l) {
    const wire::Output& found = outputs.at(fmt::format("{}.{}", name, l));
    EXPECT_EQ(found.conflict, "");
    most = std::max(most, judge::distance(found.values, expected[l], tolerance[l]));
  }
  return most;
}

// Also where a gradient is nothing but noise, as those of the keys' biases are.
TEST_P(RandomGrids, StayWellInsideTheTolerances) {
  cases::Case kase = random_case();
  kase.seed = static_cast<std::uint64_t>(GetParam());
  const front::RunReport report = run_grid(kase);
  std::vector<std::vector<front::Published>> by_rank;
  for (const front::RankReport& rank : report.ranks) by_rank.push_back(rank.published);
  const auto outputs = wire::assemble(by_rank);
  const reference::Reference expected = reference::train_reference(kase);
  constexpr double kMost = 0.3;
  EXPECT_LT(used(outputs, "grads", expected.grads, expected.grads_tolerance), kMost);
  EXPECT_LT(used(outputs, "m", expected.m, expected.m_tolerance), kMost);
  EXPECT_LT(used(outputs, "v", expected.v, expected.v_tolerance), kMost);
  EXPECT_LT(used(outputs, "weights", expected.weights, expected.weights_tolerance), kMost);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGrids, testing::Range(1, 21));

TEST(GridRank, DealsRanksAndLayersAsTheHarnessDoes) {
  const cases::Case kase = grid_case(2, 3, 2, 2, 6);
  const formulas::GridRank rank(kase, 9);  // 1 + 2 (1 + 3 x 1) = 9
  EXPECT_EQ(rank.tp, 1);
  EXPECT_EQ(rank.pp, 1);
  EXPECT_EQ(rank.dp, 1);
  EXPECT_EQ(rank.layers, (std::vector<Count>{1, 4}));
  EXPECT_EQ(formulas::chunk_of_layer(rank.pipeline, 2), 0);
  EXPECT_EQ(formulas::chunk_of_layer(rank.pipeline, 3), 1);
  EXPECT_FALSE(rank.is_first() || rank.is_last());
}

// By hand: t = 1, two ranks, one layer on each of two chunks; V = 7, h = 6, s = 3, b = 1 and m = 2.
TEST(GridRank, SendsWhatAPersonCounts) {
  const cases::Case kase = grid_case(1, 2, 1, 2, 2);
  const auto bytes = formulas::bytes_of_groups(kase, formulas::GridRank(kase, 0));
  const std::int64_t activation = 4 * 3 * 6;
  std::map<std::string, std::int64_t> sent;
  for (const auto& [groups, budget] : bytes) sent[groups.front()] = budget.value().value();
  EXPECT_EQ(sent["ends"], 4 * 7 * 6) << "half of the table's sum, twice";
  EXPECT_EQ(sent["down"], 2 * (2 + 1) * activation) << "down from both stages, up from one";
  EXPECT_EQ(sent["world"], 4);
  EXPECT_EQ(sent["dp"] + sent["tp"], 0);
  EXPECT_EQ(bytes.size(), 5U);
}

}  // namespace
}  // namespace shardlings::grading
