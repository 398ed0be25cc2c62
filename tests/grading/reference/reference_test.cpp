// The judge's training against finite differences of its own loss, and against itself.
#include "grading/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "front/model/on_model.h"
#include "grading/reference/trainer.h"

namespace shardlings::model_test {
namespace {

namespace reference = grading::reference;

double loss_of(const cases::Case& kase, const Layers& weights) {
  double loss = 0;
  Layers unused = weights;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    for (int micro = 0; micro < kase.micro_batches; ++micro) {
      loss += reference::train_micro<double>(kase, cases::micro_of(kase, rank, micro), cases::tokens_of_step(kase),
                                             weights, unused);
    }
  }
  return loss;
}

/// Every weight of the model, by central differences.
void check_gradients(const cases::Case& kase) {
  const auto trained = reference::train<double>(kase);
  Layers weights = reference::initial_weights<double>(kase);
  constexpr double kStep = 1e-5;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    for (std::size_t i = 0; i < weights[l].size(); ++i) {
      const double weight = weights[l][i];
      weights[l][i] = weight + kStep;
      const double above = loss_of(kase, weights);
      weights[l][i] = weight - kStep;
      const double below = loss_of(kase, weights);
      weights[l][i] = weight;
      ASSERT_NEAR(trained.grads[l][i], (above - below) / (2 * kStep), 2e-9) << "layer " << l << ", weight " << i;
    }
  }
}

TEST(Reference, GradientsOfAnMlpAreThoseOfItsLoss) {
  cases::Case kase = case_of(mlp(3, 5, 4, 3), 2, 2);
  kase.ranks = 2;
  kase.uneven_tokens = true;
  check_gradients(kase);
}

TEST(Reference, GradientsOfAGptAreThoseOfItsLoss) {
  cases::Case kase = case_of(gpt(2, 6, 2, 7, 3), 2, 2);
  kase.uneven_tokens = true;
  check_gradients(kase);
}

TEST(Reference, LocalGradientsAddUp) {
  cases::Case kase = case_of(mlp(2, 5, 4, 3), 2);
  kase.ranks = 3;
  const grading::reference::Reference found = grading::reference::train_reference(kase);
  ASSERT_EQ(found.local_grads.size(), 3U);
  for (std::size_t l = 0; l < found.grads.size(); ++l) {
    for (std::size_t i = 0; i < found.grads[l].size(); ++i) {
      double sum = 0;
      for (const auto& local : found.local_grads) sum += local[l][i];
      EXPECT_NEAR(sum, found.grads[l][i], 1e-15);
    }
  }
  EXPECT_NE(found.local_grads[0], found.local_grads[1]);
}

TEST(Reference, RanksThatShareABatchTrainOnItOnce) {
  cases::Case shared = case_of(mlp(2, 5, 4, 3), 2, 2);
  shared.uneven_tokens = true;
  const grading::reference::Reference one_rank = grading::reference::train_reference(shared);
  const Count tokens = cases::tokens_of_step(shared);
  shared.ranks = 4;
  shared.batches = 1;
  EXPECT_EQ(cases::tokens_of_step(shared), tokens);
  const grading::reference::Reference four_ranks = grading::reference::train_reference(shared);
  EXPECT_EQ(four_ranks.grads, one_rank.grads);
  EXPECT_EQ(four_ranks.loss, one_rank.loss);
  shared.batches = 2;
  EXPECT_EQ(grading::reference::train_reference(shared).local_grads.size(), 2U);
}

TEST(Reference, SgdFollowsTheGradient) {
  const cases::Case kase = case_of(mlp(2, 5, 4, 3), 2);
  const grading::reference::Reference found = grading::reference::train_reference(kase);
  for (std::size_t l = 0; l < found.grads.size(); ++l) {
    for (std::size_t i = 0; i < found.grads[l].size(); ++i) {
      EXPECT_NEAR(found.weights[l][i], found.weights_before[l][i] - static_cast<double>(0.1F) * found.grads[l][i],
                  1e-15);
    }
  }
}

TEST(Reference, ALongGradientIsShortenedToTheLimit) {
  cases::Case kase = case_of(mlp(2, 5, 4, 3), 2);
  const grading::reference::Reference free = grading::reference::train_reference(kase);
  double squares = 0;
  for (const auto& layer : free.grads) {
    for (const double g : layer) squares += g * g;
  }
  ASSERT_EQ(free.norms.size(), 1U);
  EXPECT_NEAR(free.norms[0], std::sqrt(squares), 1e-14);
  kase.model.clip = static_cast<float>(free.norms[0] / 4);
  const grading::reference::Reference clipped = grading::reference::train_reference(kase);
  EXPECT_EQ(clipped.grads, free.grads) << "gradients are those before clipping";
  const double factor = static_cast<double>(kase.model.clip) / free.norms[0];
  for (std::size_t l = 0; l < free.weights.size(); ++l) {
    for (std::size_t i = 0; i < free.weights[l].size(); ++i) {
      const double step = free.weights[l][i] - free.weights_before[l][i];
      EXPECT_NEAR(clipped.weights[l][i] - clipped.weights_before[l][i], factor * step, 1e-14);
    }
  }
  kase.model.clip = static_cast<float>(free.norms[0] * 4);
  EXPECT_EQ(grading::reference::train_reference(kase).weights, free.weights);
}

TEST(Reference, MomentsAreAveragesOfTheClippedGradient) {
  cases::Case kase = case_of(mlp(2, 5, 4, 3), 2);
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.clip = 0.01F;
  const grading::reference::Reference found = grading::reference::train_reference(kase);
  const double factor = static_cast<double>(kase.model.clip) / found.norms[0];
  ASSERT_LT(factor, 1);
  for (std::size_t l = 0; l < found.grads.size(); ++l) {
    for (std::size_t i = 0; i < found.grads[l].size(); ++i) {
      const double g = factor * found.grads[l][i];
      EXPECT_NEAR(found.m[l][i], (1 - static_cast<double>(0.9F)) * g, 1e-12);
      EXPECT_NEAR(found.v[l][i], (1 - static_cast<double>(0.999F)) * g * g, 1e-12);
      EXPECT_GT(found.m_tolerance[l][i], 0);
    }
  }
}

TEST(Reference, StepsLowerTheLoss) {
  for (const auto optimizer : {model::ModelSpec::Optimizer::sgd, model::ModelSpec::Optimizer::adam}) {
    cases::Case kase = case_of(gpt(1, 8, 2, 6, 4), 2);
    kase.model.optimizer = optimizer;
    const double before = grading::reference::train_reference(kase).loss;
    kase.steps = 6;
    EXPECT_LT(grading::reference::train_reference(kase).loss, 0.9 * before);
  }
}

TEST(Reference, ToleranceIsFarBelowTheGradientsAndNeverZero) {
  const cases::Case kase = case_of(gpt(2, 12, 3, 9, 5), 3);
  const grading::reference::Reference found = grading::reference::train_reference(kase);
  EXPECT_GT(found.loss_tolerance, 0);
  EXPECT_LT(found.loss_tolerance, 1e-4 * found.loss);
  const auto structure = model::make_structure(kase.model);
  for (std::size_t l = 0; l < found.grads.size(); ++l) {
    for (const Entry& entry : structure.layers[l].entries) {
      if (std::string(entry.name) == "key.bias") continue;  // softmax does not see it: its gradient is 0
      const auto at = static_cast<std::size_t>(entry.range.begin);
      double squares = 0;
      for (std::size_t i = at; i < static_cast<std::size_t>(entry.range.end); ++i) {
        squares += found.grads[l][i] * found.grads[l][i];
      }
      EXPECT_GT(found.grads_tolerance[l][at], 0) << entry.name;
      EXPECT_LT(found.grads_tolerance[l][at], 1e-3 * std::sqrt(squares / static_cast<double>(entry.range.size())))
          << "layer " << l << " " << entry.name;
    }
  }
}

}  // namespace
}  // namespace shardlings::model_test
