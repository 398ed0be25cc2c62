// Workers that take outer steps together: against data parallel training, against closed forms, and mistakes apart.
#include "grading/formulas/outer_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

using Weights = reference::LayersOf<double>;

cases::Case case_of(int workers, int steps) {
  cases::Case kase;
  kase.ranks = workers;
  kase.steps = steps;
  kase.seed = 9;
  kase.uneven_tokens = true;
  kase.model.layers = 3;
  kase.model.hidden = 5;
  kase.model.outputs = 4;
  kase.model.sequence = 6;
  kase.model.lr = 0.25F;
  return kase;
}

/// All layers in one fragment; worker k's difference weighs tokens[k] in each round.
OuterPlan plan_of(const cases::Case& kase, int every, const std::vector<Count>& tokens) {
  OuterPlan plan;
  plan.steps = kase.steps;
  plan.every = every;
  plan.lr = 1;
  plan.momentum = 0;
  plan.fragments = {{0, kase.model.layers}};
  plan.tokens.assign(static_cast<std::size_t>(kase.steps / every), tokens);
  return plan;
}

std::vector<TrainedWorker<double>> trained(const OuterCase& of, OuterMistake mistake = OuterMistake::none) {
  return WorkerTraining<double>(of, 0, mistake).run();
}

TEST(OuterTraining, IsDataParallelWithOneInnerStepAndPlainSgdOnBothLevels) {
  for (int workers = 1; workers <= 9; ++workers) {
    const cases::Case kase = case_of(workers, 3);
    std::vector<Count> tokens;
    for (int k = 0; k < workers; ++k) tokens.push_back(cases::tokens_of_micro(kase, k, 0));
    const OuterPlan plan = plan_of(kase, 1, tokens);
    const Weights right = reference::train<double>(kase).weights;
    for (const TrainedWorker<double>& worker : trained({kase, plan, plan})) {
      for (std::size_t l = 0; l < right.size(); ++l) {
        for (std::size_t i = 0; i < right[l].size(); ++i) ASSERT_NEAR(worker.weights[l][i], right[l][i], 1e-12);
      }
    }
  }
}

/// With the gradient w - c, H steps of rate lr leave c + (1 - lr)^H (w - c) of a worker's weights.
TEST(OuterTraining, OfDistancesIsTheMeanOfWhatEachWorkerComesTo) {
  for (int workers = 1; workers <= 9; ++workers) {
    const cases::Case kase = case_of(workers, 4);
    std::vector<Count> tokens(static_cast<std::size_t>(workers));
    std::iota(tokens.begin(), tokens.end(), 1);
    const OuterPlan plan = plan_of(kase, 2, tokens);
    OuterCase of{kase, plan, plan};
    const Weights first = reference::initial_weights<double>(kase);
    Count size = 0;
    for (const auto& layer : first) {
      of.exact_weights.emplace_back(layer.size(), 3.0F);
      size += static_cast<Count>(layer.size());
    }
    const double left = std::pow(1 - 0.25, 2), all = workers * (workers + 1) / 2.0;
    const auto worker = trained(of).front();
    for (Count i = 0; i < static_cast<Count>(first[0].size()); ++i) {
      double w = 3;
      for (int round = 0; round < 2; ++round) {
        double mean = 0;
        for (int k = 0; k < workers; ++k) {
          const double c = cases::integers_of(kase, k, size)[static_cast<std::size_t>(i)];
          mean += (k + 1) / all * (c + left * (w - c));
        }
        w = mean;
      }
      ASSERT_NEAR(worker.weights[0][static_cast<std::size_t>(i)], w, 1e-12);
    }
  }
}

TEST(OuterTraining, KnownMistakesAreApart) {
  cases::Case kase = case_of(3, 12);
  kase.micro_batches = 2;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  OuterPlan whole = plan_of(kase, 6, {5, 2, 4});
  whole.fragments = {{0, 2}, {2, 3}};
  whole.tokens.assign(4, {5, 2, 4});
  whole.overlap = 2;
  whole.mix = 0.25F;
  whole.lr = 0.7F;
  whole.momentum = 0.9F;
  OuterPlan plan = whole;
  plan.tokens[1][2] = 0;
  const OuterCase of{kase, plan, whole};
  std::vector<std::vector<std::vector<double>>> all;
  for (int mistake = 0; mistake <= static_cast<int>(OuterMistake::never); ++mistake) {
    const auto workers = trained(of, static_cast<OuterMistake>(mistake));
    all.push_back(of_all_workers(workers, &TrainedWorker<double>::weights));
    for (std::size_t other = 0; other + 1 < all.size(); ++other) EXPECT_NE(all[other], all.back()) << mistake;
  }
}

}  // namespace
}  // namespace shardlings::grading::formulas
