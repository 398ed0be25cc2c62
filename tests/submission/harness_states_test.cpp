// Training states of chunks, in mixed precision and on the host, and the groups of a grid, as harnesses make them; and
// gradients spoilt on purpose.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/parts.h"
#include "case/data.h"
#include "grading/reference/rounding.h"
#include "submission/harness.h"
#include "world/world.h"

namespace shardlings::grading {
namespace {

cases::Case small_case(int ranks) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.batch = 2;
  kase.uneven_tokens = true;
  kase.model.layers = 2;
  kase.model.hidden = 6;
  kase.model.outputs = 5;
  kase.model.sequence = 3;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  return kase;
}

front::RunReport with_harness(const cases::Case& kase, const std::function<void(submission::Harness&)>& body) {
  world::Options options;
  options.ranks = kase.ranks;
  return world::run(options, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    body(harness);
  });
}

TEST(HarnessStates, HoldTheLayersOfAllChunksOfARank) {
  cases::Case kase = small_case(2);
  kase.model.layers = 5;
  const auto report = with_harness(kase, [](submission::Harness& h) {
    const std::vector<Range> chunks = h.layers_of_chunks(h.rank().id(), 2, 2);
    const std::vector<Range> first = {{0, 2}, {3, 4}}, second = {{2, 3}, {4, 5}};
    EXPECT_EQ(chunks, h.rank().id() == 0 ? first : second);
    TrainState state = h.state({.layers = chunks, .divided = {.optimizer = true}});
    const std::vector<Stage> stages = h.stages(chunks, state);
    for (int l = 0; l < 5; ++l) {
      const auto at = static_cast<std::size_t>(l);
      const bool is_here = (l < 2 || l == 3) == (h.rank().id() == 0);
      EXPECT_EQ(state.weights[at].size(), is_here ? h.model().size(l) : 0) << "layer " << l;
      EXPECT_EQ(state.optimizer[at].v.size(), is_here ? h.rank().world().mine(h.model().size(l)).size() : 0);
    }
    EXPECT_EQ(stages.front().is_first(), h.rank().id() == 0);
    EXPECT_EQ(stages.back().is_last(), h.rank().id() == 1);
    EXPECT_THROW(h.layers_of_chunks(0, 2, 3), std::runtime_error) << "six stages of five layers";
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HarnessGroups, DivideAGridInItsThreeWays) {
  const auto report = with_harness(small_case(12), [](submission::Harness& h) {
    const int id = h.rank().id();
    const submission::GridGroups groups = h.grid_groups(2, 3, 2);
    EXPECT_EQ(groups.tp.size(), 2);
    EXPECT_EQ(groups.tp.rank(), id % 2);
    for (const Group& pipeline : {groups.down, groups.up}) {
      EXPECT_EQ(pipeline.size(), 3);
      EXPECT_EQ(pipeline.rank(), id / 2 % 3);
    }
    EXPECT_EQ(groups.dp.size(), 2);
    EXPECT_EQ(groups.dp.rank(), id / 6);
    EXPECT_EQ(groups.ends.size(), id / 2 % 3 == 1 ? 0 : 2);
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HarnessGroups, OfAPipelineOfOneHaveBothEndsHere) {
  const auto report = with_harness(small_case(2), [](submission::Harness& h) {
    EXPECT_EQ(h.grid_groups(1, 1, 2).ends.size(), 1);
    EXPECT_THROW(h.grid_groups(1, 1, 3), InvalidArgument) << "the world has two ranks";
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HarnessStates, MixedTakesSixteenBytesForEachWeight) {
  const cases::Case kase = small_case(1);
  const auto report = with_harness(kase, [](submission::Harness& h) {
    const TrainState state = h.state({.dtype = DType::bf16});
    h.put("rounded", state.weights[1]);
    EXPECT_EQ(state.weights[1].dtype(), DType::bf16);
    EXPECT_EQ(state.grads[1].dtype(), DType::bf16);
    EXPECT_EQ(state.master[1].dtype(), DType::f32);
    EXPECT_EQ(state.optimizer[1].m.dtype(), DType::f32);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 16 * (6 * 6 + 6 + 6 * 5 + 5));
  const std::vector<float> weights = cases::weights_of(kase, 1);
  const std::vector<float>& rounded = report.ranks[0].published.at(0).values;
  ASSERT_EQ(rounded.size(), weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(static_cast<double>(rounded[i]), reference::nearest_bf16(static_cast<double>(weights[i])));
  }
}

TEST(HarnessStates, TheHostHoldsThisRanksParts) {
  for (const int ranks : {1, 3}) {
    const cases::Case kase = small_case(ranks);
    const auto report = with_harness(kase, [](submission::Harness& h) {
      const TrainState state =
          h.state({.divided = {.weights = true, .grads = true, .optimizer = true}, .memory = submission::Memory::host});
      h.begin();
      h.put("part", state.weights[0]);
    });
    ASSERT_FALSE(report.failure) << report.failure->message;
    const std::vector<float> weights = cases::weights_of(kase, 0);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& of_rank = report.ranks[static_cast<std::size_t>(rank)];
      const Range part = part_of(42, ranks, rank);
      EXPECT_EQ(of_rank.published.at(0).values,
                std::vector<float>(weights.begin() + part.begin, weights.begin() + part.end));
      EXPECT_EQ(of_rank.counters.host.peak.value(), 16 * (part.size() + part_of(35, ranks, rank).size()));
      EXPECT_EQ(of_rank.counters.peak.value(), 0) << "nothing is left on the device";
    }
  }
}

TEST(HarnessStates, ASpoiltBatchMakesNanAndIsMendedAgain) {
  const cases::Case kase = small_case(2);
  const auto report = with_harness(kase, [](submission::Harness& h) {
    const Model model = h.model();
    TrainState state = h.state();
    const Batch batch = h.batch();
    const auto losses = [&] {
      Tensor loss = h.rank().zeros(1, Kind::other);
      Tensor x = model.forward(1, state.weights[1], model.forward(0, state.weights[0], batch.inputs, nullptr), nullptr);
      const Tensor grad = model.loss(std::move(x), batch.targets, batch.tokens_of_step(), loss);
      return h.rank().read(loss);
    };
    const float right = losses();
    EXPECT_TRUE(std::isfinite(right));
    h.spoil(true);
    EXPECT_TRUE(std::isnan(losses()));
    h.spoil(false);
    EXPECT_EQ(losses(), right);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
}

}  // namespace
}  // namespace shardlings::grading
