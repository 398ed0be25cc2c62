// Closed forms of a divided step, for a perceptron by hand.

#include "grading/formulas/step_cost.h"

#include <gtest/gtest.h>

#include "grading/formulas/sharding.h"

namespace shardlings::grading {
namespace {

/// Three layers of 12, 12 and 8 weights (48, 48 and 32 bytes) on three ranks; 4 tokens.
cases::Case perceptron(int ranks) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.model.layers = 3;
  kase.model.hidden = 3;
  kase.model.outputs = 2;
  kase.model.sequence = 2;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.batch = 2;
  return kase;
}

TEST(Parts, AreThoseOfTheGroup) {
  const cases::Case kase = perceptron(3);
  EXPECT_EQ(formulas::part_bytes(kase, 0), (std::vector<std::int64_t>{16, 16, 12}));
  EXPECT_EQ(formulas::part_bytes(kase, 2), (std::vector<std::int64_t>{16, 16, 8}));
  EXPECT_EQ(formulas::reduce_scatter_bytes(kase, 2), (std::vector<std::int64_t>{32, 32, 24}));
  EXPECT_EQ(formulas::all_gather_bytes(kase, 1), (std::vector<std::int64_t>{32, 32, 24}))
      << "all but the part of rank 2";
  EXPECT_EQ(formulas::all_reduce_bytes_of_one(kase, 0), 4) << "rank 0 owns the number: it passes it on once";
  EXPECT_EQ(formulas::all_reduce_bytes_of_one(kase, 1), 8);
}

TEST(StepPeak, IsWhatTheStagesSay) {
  const cases::Case kase = perceptron(3);
  const std::int64_t batch = 4 * (12 + 4) + 4;
  EXPECT_EQ(formulas::step_peak(kase, 0, 0).weights, 128);
  EXPECT_EQ(formulas::step_peak(kase, 0, 0).optimizer, 256);
  EXPECT_EQ(formulas::step_peak(kase, 0, 1).optimizer, 2 * 44);
  EXPECT_EQ(formulas::step_peak(kase, 0, 2).gradients, 44);
  EXPECT_EQ(formulas::step_peak(kase, 2, 3).weights, 40);
  EXPECT_EQ(formulas::step_peak(kase, 0, 3).batch, batch);
  // Backward of layer 1: x0, x1 and z0, z1 (48 each), then the gradients on both sides of the GELU.
  const formulas::StepPeak peak = formulas::step_peak(kase, 0, 3);
  EXPECT_EQ(peak.layer, 1U);
  EXPECT_EQ(peak.kept, 4 * 48);
  EXPECT_EQ(peak.own, 2 * 48);
  EXPECT_EQ(peak.gathered_weights, 48 + 48);
  EXPECT_EQ(peak.unreduced, 48 + 32);
  EXPECT_EQ(peak.formula().value().value(), peak.total());
  EXPECT_EQ(peak.formula().text(),
            "weights/N + gradients/N + moments/N + batch and loss + activations of layers 0-1 + what backward of layer "
            "1 needs + two units of weights + two of gradients = 44 + 44 + 88 + 68 + 192 + 96 + 96 + 80");
  EXPECT_EQ(peak.total(), 4 * 44 + batch + 4 * 48 + 2 * 48 + 96 + 80);
}

TEST(StepPeak, AtTheTopThereIsABucketOfTheMicroBatchBefore) {
  cases::Case kase = perceptron(2);
  kase.model.sequence = 1;
  kase.batch = 1;  // so that gradients weigh most, those of the last layer
  kase.model.outputs = 30;
  EXPECT_EQ(formulas::step_peak(kase, 0, 2).layer, 2U);
  EXPECT_EQ(formulas::step_peak(kase, 0, 2).unreduced, 4 * 120);
  kase.micro_batches = 2;
  EXPECT_EQ(formulas::step_peak(kase, 0, 2).unreduced, 4 * 120 + 48);
}

TEST(StepBytes, AreThoseOfTheStages) {
  cases::Case kase = perceptron(3);
  EXPECT_EQ(formulas::step_bytes(kase, 1, 0).value().value(), 2 * (32 + 32) + (32 - 12) + (32 - 8));
  EXPECT_EQ(formulas::step_bytes(kase, 1, 1).value().value(), formulas::step_bytes(kase, 1, 0).value().value());
  EXPECT_EQ(formulas::step_bytes(kase, 1, 3).value().value(), 2 * (32 + 32) + (32 + 32 + 20) + (32 - 8))
      << "the last layer is gathered once";
  EXPECT_EQ(formulas::step_bytes(kase, 1, 0).text(), "reduce-scatters + all-gathers = 84 + 88");
  EXPECT_EQ(formulas::step_bytes(perceptron(2), 1, 0).text(), "2 (N-1)/N x gradients = 2 x 1/2 x 128");
  kase.micro_batches = 4;
  EXPECT_EQ(formulas::step_bytes(kase, 1, 2).value().value(), 4 * (32 + 32 + 20) + (32 + 32 + 24));
  EXPECT_EQ(formulas::step_bytes(perceptron(1), 0, 3).value().value(), 0);
}

}  // namespace
}  // namespace shardlings::grading
