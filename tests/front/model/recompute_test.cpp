// What backward of a block computes again: the same numbers, for less that is kept.
#include <gtest/gtest.h>

#include "front/model/on_model.h"
#include "model/memory.h"
#include "support/worlds.h"
#include "world/use_backend.h"

namespace shardlings::model_test {
namespace {

using model::Recompute;

struct Recomputed {
  Layers grads;
  Bytes saved;  ///< by forward of one block
  Flops flops;  ///< of a micro-batch
};

Recomputed trained(Recompute recompute, world::Backend backend) {
  world::Options options;
  options.cluster = support::test_cluster();
  options.execution.recompute = recompute;
  use_backend(options, backend);
  Recomputed of;
  const auto body = [&of](Rank& rank) {
    const cases::Case kase = case_of(gpt(2, 12, 3, 20, 5), 2);
    OnDevice on(rank, model::make_structure(kase.model), weights_of(kase));
    const Tensor x = rank.zeros({5, 2, 12}, Kind::activation);
    const Bytes before = live_of(rank);
    {
      Saved saved;
      const Tensor y = on.model.forward(1, on.state.weights[1], x, &saved);
      of.saved = live_of(rank) - before - Bytes(4 * y.size());
    }
    train_micro(rank, on, kase, cases::micro_of(kase, 0, 0), 10);
    of.flops = counters_of(rank).flops;
    of.grads = get_layers(on.state.grads);
  };
  const front::RunReport report = run(options, body);
  EXPECT_FALSE(report.failure) << report.failure->message;
  return of;
}

TEST(Recompute, GivesTheSameNumbers) {
  const Recomputed off = trained(Recompute::off, world::Backend::cpu);
  EXPECT_EQ(trained(Recompute::full, world::Backend::cpu).grads, off.grads);
  EXPECT_EQ(trained(Recompute::selective, world::Backend::cpu).grads, off.grads);
}

TEST(Recompute, KeepsLessAndComputesMore) {
  for (const world::Backend backend : {world::Backend::cpu, world::Backend::dry}) {
    const Recomputed off = trained(Recompute::off, backend), full = trained(Recompute::full, backend),
                     selective = trained(Recompute::selective, backend);
    EXPECT_EQ(full.saved, Bytes(0));
    // The attention's probabilities: of 2 sequences, 3 heads, 5 times 5 positions.
    EXPECT_EQ(off.saved - selective.saved, Bytes(4 * 2 * 3 * 5 * 5));
    EXPECT_LT(off.flops, selective.flops);
    EXPECT_LT(selective.flops, full.flops);
  }
}

}  // namespace
}  // namespace shardlings::model_test
