// The solutions on the cluster `steps`, with the layers, batches and ranks of the LLM Training Puzzles
// (srush/LLM-Training-Puzzles, Distributed.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "grading/formulas/beside_solution.h"
#include "grading/formulas/training.h"
#include "world/world.h"

// NOLINTBEGIN(bugprone-suspicious-include)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // puzzles name all that they are given
#pragma GCC diagnostic ignored "-Wconversion"        // and mix counts with indices, as learners do
namespace training_step {
#include "../../puzzles/01_training_step/harness.cpp"
#include "../../solutions/01_training_step/solution.cpp"
}  // namespace training_step
namespace accumulation {
#include "../../puzzles/02_gradient_accumulation/harness.cpp"
#include "../../solutions/02_gradient_accumulation/solution.cpp"
}  // namespace accumulation
namespace data_parallel {
#include "../../puzzles/09_data_parallel/harness.cpp"
#include "../../solutions/09_data_parallel/solution.cpp"
}  // namespace data_parallel
namespace fully_sharded {
#include "../../puzzles/13_zero3_fsdp/harness.cpp"
#include "../../solutions/13_zero3_fsdp/solution.cpp"
}  // namespace fully_sharded
namespace gpipe_steps {
#include "../../puzzles/19_gpipe/harness.cpp"
#include "../../solutions/19_gpipe/solution.cpp"
}  // namespace gpipe_steps
namespace sharded_stages {
#define SHARDLINGS_BESIDE_LEARNER  // the solution calls what is there
#include "../../puzzles/25_pipeline_fsdp/harness.cpp"
#undef SHARDLINGS_BESIDE_LEARNER
#include "../../solutions/25_pipeline_fsdp/solution.cpp"
}  // namespace sharded_stages
#pragma GCC diagnostic pop
// NOLINTEND(bugprone-suspicious-include)

namespace shardlings::grading {
namespace {

struct Size {
  int ranks, batches, layers, micro_batches;
  Count sequences;
  int stages = 1;
};

cases::Case case_of(const Size& size) {
  cases::Case kase;
  kase.ranks = size.ranks;
  kase.batches = size.batches;
  kase.model.layers = size.layers;
  kase.model.hidden = kase.model.outputs = 3;
  kase.model.sequence = 2;
  kase.batch = size.sequences;
  kase.micro_batches = size.micro_batches;
  kase.numbers = {{"stages", size.stages}, {"chunks", 1}};
  kase.cluster = front::load_cluster(SHARDLINGS_SOURCE_FOLDER "/runtime/front/clock/clusters", "steps");
  return kase;
}

/// What the slowest rank took, and what the fullest one held at its peak: all in units of the LLM Training Puzzles.
/// There a layer's weights are 1, and so are the gradient of a layer, and the activation of a layer for one batch.
struct Steps {
  double time = 0;
  double weights = 0, gradients = 0, activations = 0;
};

Steps steps_of(const Size& size, void (*entry)(submission::Harness&)) {
  const cases::Case kase = case_of(size);
  world::Options options;
  options.ranks = kase.ranks;
  options.cluster = kase.cluster;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    entry(harness);
  });
  if (report.failure) ADD_FAILURE() << report.failure->message;
  const double layer = static_cast<double>(formulas::layer_bytes(kase).front().weights);
  const double activation =
      static_cast<double>(formulas::layer_bytes(kase).front().input) / static_cast<double>(size.sequences);
  Steps most;
  for (const front::RankReport& rank : report.ranks) {
    const auto held = [&](Kind kind) {
      return static_cast<double>(rank.counters.peak_by_kind[static_cast<std::size_t>(kind)].value());
    };
    most.time = std::max(most.time, static_cast<double>(rank.counters.end.value()) / 1e6);
    most.weights = std::max(most.weights, held(Kind::parameter) / layer);
    most.gradients = std::max(most.gradients, held(Kind::gradient) / layer);
    most.activations = std::max(most.activations, held(Kind::activation) / activation);
  }
  return most;
}

void expect(const Steps& found, const Steps& expected) {
  EXPECT_DOUBLE_EQ(found.time, expected.time);
  EXPECT_DOUBLE_EQ(found.weights, expected.weights);
  EXPECT_DOUBLE_EQ(found.gradients, expected.gradients);
  EXPECT_DOUBLE_EQ(found.activations, expected.activations);
}

// The numbers of docs/reference/clock.md, where they stand beside those that the LLM Training Puzzles print.
TEST(Steps, StandardTraining) {
  expect(steps_of({1, 1, 2, 1, 4}, training_step::shardlings_harness), {17, 2, 1, 16});
}

TEST(Steps, GradientAccumulation) {
  expect(steps_of({1, 1, 2, 4, 1}, accumulation::shardlings_harness), {17, 2, 2, 4});
}

// Both all-reduces are hidden: one behind the backward of layer 0, the other one behind the update of layer 1.
TEST(Steps, DataParallel) {
  expect(steps_of({4, 4, 2, 1, 1}, data_parallel::shardlings_harness), {5, 2, 2, 4});
}

// All but the first all-gather and the last reduce-scatter are hidden: 12 + 0.3 + 0.3 + 6 updates.
TEST(Steps, FullySharded) {
  expect(steps_of({4, 4, 6, 1, 1}, fully_sharded::shardlings_harness), {15.6, 3.5, 3.5, 11});
}

// One micro-batch of four sequences: 8 layers of 4 + 4, and 6 messages of 0.2.
TEST(Steps, Pipeline) {
  expect(steps_of({4, 1, 8, 1, 4}, gpipe_steps::shardlings_harness), {65.2, 2, 2, 24});
}

TEST(Steps, GPipe) {
  expect(steps_of({4, 1, 8, 4, 1}, gpipe_steps::shardlings_harness), {31.6, 2, 2, 18});
}

// Four stages of one layer, each divided over four ranks: 8 for the layers, 1.2 for 6 messages, and a first all-gather
// and a last reduce-scatter.
TEST(Steps, PipelineOfShardedStages) {
  expect(steps_of({16, 4, 4, 1, 1, 4}, sharded_stages::shardlings_harness), {9.8, 1.25, 1.25, 4});
}

}  // namespace
}  // namespace shardlings::grading
