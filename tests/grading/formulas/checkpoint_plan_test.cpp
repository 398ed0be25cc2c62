// The optimum of checkpoint_plan.h against trying every plan, and its formulas by hand.
#include "grading/formulas/checkpoint_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace shardlings::grading {
namespace {

/// Layers of random sizes; with small numbers, so that plans of equal bytes meet.
std::vector<formulas::PlannedLayer> random_layers(std::uint64_t seed) {
  std::uint64_t next = 0;
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(below_at(n, seed, next++)); };
  std::vector<formulas::PlannedLayer> layers(static_cast<std::size_t>(1 + below(10)));
  for (formulas::PlannedLayer& layer : layers) {
    layer = {.input = below(8), .saved = below(12), .kept_work = below(20), .again_work = 0, .flops = below(50)};
    layer.again_work = layer.kept_work + below(2) * below(10);
  }
  return layers;
}

formulas::CheckpointPlan plan_of(std::uint64_t bits, std::size_t layers) {
  formulas::CheckpointPlan plan;
  for (std::size_t l = 0; l < layers; ++l) plan.push_back((bits >> l & 1U) != 0);
  return plan;
}

/// The fewest operations of all 2^L plans.
std::optional<std::int64_t> fewest_of_all(const std::vector<formulas::PlannedLayer>& layers, std::int64_t budget) {
  std::optional<std::int64_t> fewest;
  for (std::uint64_t bits = 0; bits >> layers.size() == 0; ++bits) {
    const formulas::CheckpointPlan plan = plan_of(bits, layers.size());
    if (formulas::activation_peak(layers, plan) > budget) continue;
    const std::int64_t flops = formulas::recomputed_flops(layers, plan);
    fewest = fewest ? std::min(*fewest, flops) : flops;
  }
  return fewest;
}

TEST(CheckpointPlan, IsTheBestOfAllPlans) {
  int fitting = 0, trading = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<formulas::PlannedLayer> layers = random_layers(seed);
    const std::int64_t most = formulas::activation_peak(layers, formulas::CheckpointPlan(layers.size(), false));
    const auto budget = static_cast<std::int64_t>(below_at(static_cast<std::uint32_t>(most + 2), seed, 1U << 20U));
    const auto expected = fewest_of_all(layers, budget);
    const auto found = formulas::best_plan(layers, budget);
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed;
    if (!found) continue;
    EXPECT_LE(formulas::activation_peak(layers, *found), budget) << "seed " << seed;
    EXPECT_EQ(formulas::recomputed_flops(layers, *found), *expected) << "seed " << seed;
    ++fitting;
    trading += *expected > 0 ? 1 : 0;
  }
  EXPECT_GT(fitting, 150) << "budgets that some plan fits";
  EXPECT_GT(trading, 75) << "budgets that ask for a choice";
}

TEST(CheckpointPlan, PeakCountsWhatIsKeptBelow) {
  const std::vector<formulas::PlannedLayer> layers = {{10, 5, 7, 8, 100}, {20, 6, 50, 50, 200}, {30, 7, 9, 9, 300}};
  EXPECT_EQ(formulas::activation_peak(layers, {false, false, false}), 10 + 20 + 5 + 50);
  EXPECT_EQ(formulas::activation_peak(layers, {true, false, false}), 10 + 20 + 50);
  EXPECT_EQ(formulas::activation_peak({layers[0]}, {true}), 18) << "made again";
  EXPECT_EQ(formulas::recomputed_flops(layers, {true, false, true}), 400);
}

TEST(CheckpointPlan, LayersOfACaseAreThoseOfItsModel) {
  cases::Case kase;
  kase.model.layers = 2;
  kase.model.hidden = 3;
  kase.model.widths = {7};
  kase.model.outputs = 2;
  kase.model.sequence = 5;
  kase.batch = 2;
  const std::vector<formulas::PlannedLayer> layers = formulas::planned_layers(kase);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].input, 4 * 10 * 3);
  EXPECT_EQ(layers[0].saved, 4 * 10 * 7);
  EXPECT_EQ(layers[0].kept_work, 3 * 4 * 10 * 7);
  EXPECT_EQ(layers[0].again_work, 3 * 4 * 10 * 7) << "output, Saved and the gradient of the output";
  EXPECT_EQ(layers[0].flops, 2 * 10 * 3 * 7 + 17 * 10 * 7);
  EXPECT_EQ(layers[1].saved, 0);
}

}  // namespace
}  // namespace shardlings::grading
