// What mixed precision with skipped steps is judged by, against the judge's own training.
#include "grading/formulas/mixed_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace shardlings::grading {
namespace {

cases::Case mixed_case(std::uint64_t seed) {
  const auto pick = [&](std::uint64_t i, std::uint32_t most) { return static_cast<Count>(below_at(most, seed, i, 5)); };
  cases::Case kase;
  kase.seed = seed;
  kase.ranks = static_cast<int>(1 + pick(0, 4));
  kase.steps = static_cast<int>(3 + pick(1, 3));  // the second overflows, and is not the last
  kase.uneven_tokens = seed % 2 == 0;
  kase.model.layers = static_cast<int>(1 + pick(2, 3));
  kase.model.hidden = 3 + pick(3, 9);
  kase.model.outputs = 2 + pick(4, 7);
  kase.model.sequence = 2 + pick(5, 6);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.lr = 1e-3F;
  kase.model.eps = 1e-2F;
  kase.model.clip = seed % 3 == 0 ? 0.1F : 100;
  kase.numbers = {{"scale", 1024}, {"growth", 2}, {"overflow", 2}, {"overflow_again", 0}};
  return kase;
}

TEST(MixedTraining, SharesOfTheLossAddUpToThatOfTheStep) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const cases::Case kase = mixed_case(seed);
    const std::vector<double> shares = formulas::mixed_loss_shares(kase, kase.steps);
    EXPECT_EQ(shares.size(), static_cast<std::size_t>(kase.ranks));
    const double loss = reference::train_reference(formulas::without_overflows(kase), reference::Precision::mixed).loss;
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), loss, 1e-12) << seed;
  }
}

TEST(MixedTraining, AnUpdateOfOwnMomentsIsThatOfTheReference) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    cases::Case kase = formulas::without_overflows(mixed_case(seed));
    const reference::Reference after = reference::train_reference(kase, reference::Precision::mixed);
    const int number = kase.steps--;
    const reference::Layers before =
        kase.steps > 0 ? reference::train_reference(kase, reference::Precision::mixed).weights : after.weights_before;
    const reference::Layers again = formulas::updated(kase, before, after.m, after.v, number);
    EXPECT_LT(formulas::largest(formulas::combine(again, -1, after.weights)), 1e-12) << seed;
    if (number > 1) {
      const reference::Layers as_first = formulas::updated(kase, before, after.m, after.v, 1);
      EXPECT_GT(formulas::largest(formulas::combine(as_first, -1, after.weights)), 1e-6) << seed;
    }
  }
}

TEST(MixedTraining, TheNumberOfAnUpdateIsToldLayerByLayer) {
  cases::Case kase = formulas::without_overflows(mixed_case(1));
  kase.model.layers = 2;
  const reference::Reference after = reference::train_reference(kase, reference::Precision::mixed);
  const reference::Layers& before = after.weights_before;
  reference::Layers mixed = formulas::updated(kase, before, after.m, after.v, 1);
  mixed[1] = formulas::updated(kase, before, after.m, after.v, 3)[1];
  const auto numbers = [&] { return formulas::numbers_of_last_updates(kase, before, after.m, after.v, mixed); };
  EXPECT_EQ(numbers(), (std::vector<int>{1, 3}));
  mixed[0] = before[0];
  EXPECT_EQ(numbers(), (std::vector<int>{0, 3})) << "that is no update";
}

TEST(MixedTraining, ScaleIsHalvedByOverflowsAndDoubledByCleanSteps) {
  cases::Case kase = mixed_case(1);
  kase.steps = 7;
  kase.numbers["overflow"] = 2;
  kase.numbers["overflow_again"] = 5;
  EXPECT_EQ(formulas::number_of_overflows(kase), 2);
  EXPECT_EQ(formulas::without_overflows(kase).steps, 5);
  const formulas::Scaling scaling = formulas::expected_scaling(kase);
  EXPECT_EQ(scaling.scales, (std::vector<double>{1024, 512, 512, 1024, 512, 512, 1024}));
  EXPECT_EQ(scaling.counts, (std::vector<double>{1, 0, 1, 0, 0, 1, 0}));
}

TEST(MixedTraining, WhatSkippedStepsLeaveOfTheFirstMoment) {
  cases::Case kase = mixed_case(1);
  kase.steps = 3;  // clean, overflow, clean
  EXPECT_DOUBLE_EQ(formulas::kept_of_m(kase, 1), 1);
  EXPECT_NEAR(formulas::kept_of_m(kase, 0.9), (0.1 * 0.9 * 0.9 + 0.1) / 0.19, 1e-6);
  EXPECT_NEAR(formulas::kept_of_m(kase, 0), 0.1 / 0.19, 1e-6);
  kase.steps = 2;
  EXPECT_EQ(formulas::kept_of_m(kase, 0), 0) << "nothing came after the overflow";
}

TEST(MixedTraining, TheLimitShortensWhatIsLonger) {
  cases::Case kase = mixed_case(1);
  kase.model.clip = 2;
  EXPECT_EQ(formulas::clip_factor_of(kase, 1), 1);
  EXPECT_EQ(formulas::clip_factor_of(kase, 8), 0.25);
  EXPECT_EQ(formulas::norm_of({{3}, {0, -4}}), 5);
  EXPECT_EQ(formulas::largest({{3}, {0, -4}}), 4);
}

}  // namespace
}  // namespace shardlings::grading
