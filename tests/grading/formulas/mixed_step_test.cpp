#include "grading/formulas/mixed_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shardlings::grading::formulas {
namespace {

cases::Case small_case() {
  cases::Case kase;
  kase.ranks = 3;
  kase.batch = 2;
  kase.seed = 5;
  kase.uneven_tokens = true;
  kase.model.family = model::ModelSpec::Family::mlp;
  kase.model.layers = 3;
  kase.model.hidden = 10;
  kase.model.outputs = 7;
  kase.model.sequence = 4;
  kase.model.lr = 0.1F;
  return kase;
}

reference::Layers rounded_weights(const cases::Case& kase) {
  reference::Layers weights = reference::initial_weights<double>(kase);
  reference::Rounding<double> to_bf16;
  for (std::vector<double>& layer : weights) reference::keep(&to_bf16, layer);
  return weights;
}

TEST(MixedStep, IsTheFirstStepOfTheJudgesTraining) {
  const cases::Case kase = small_case();
  const reference::Reference whole = reference::train_reference(kase, reference::Precision::mixed);
  const MixedStep step = mixed_step(kase, rounded_weights(kase));
  EXPECT_EQ(step.exact.sum, whole.grads);
  EXPECT_EQ(step.exact.local.size(), 3U);
  EXPECT_EQ(step.exact.local, whole.local_grads);
  double loss = 0;
  for (const double share : step.exact.losses) loss += share;
  EXPECT_NEAR(loss, whole.loss, 1e-12);
  // The master weights move from where they were, not from where they were rounded to.
  const SgdStep after = sgd_step(kase, reference::initial_weights<double>(kase), step.exact.sum);
  for (std::size_t l = 0; l < whole.weights.size(); ++l) {
    for (std::size_t i = 0; i < whole.weights[l].size(); ++i) {
      EXPECT_NEAR(after.weights[l][i], whole.weights[l][i], after.tolerance[l][i]);
    }
  }
}

TEST(MixedStep, ItsNoiseIsThatOfRoundingsTo16Bits) {
  const cases::Case kase = small_case();
  const MixedStep step = mixed_step(kase, rounded_weights(kase));
  EXPECT_GT(step.noise, 1);
  EXPECT_LT(step.noise, 300);
  for (const std::vector<double>& layer : step.tolerance) {
    EXPECT_TRUE(std::all_of(layer.begin(), layer.end(), [](double tolerance) { return tolerance > 0; }));
  }
}

TEST(MixedStep, DistancesAreRelative) {
  const reference::Layers exact = {{3, 0}, {4}}, found = {{3, 0.5}, {4}};
  EXPECT_EQ(distance(exact, exact), 0);
  EXPECT_EQ(distance(found, exact), 1000);
  EXPECT_EQ(distance(reference::Layers{{30, 5}, {40}}, {{30, 0}, {40}}), 1000);
}

}  // namespace
}  // namespace shardlings::grading::formulas
