// The map of memory of the project's own model, against what the ledger counts when it is trained.

#include <gtest/gtest.h>

#include "front/model/on_model.h"
#include "memory_map/memory_map.h"

namespace shardlings::model_test {
namespace {

memory_map::MemoryMap map_of(const cases::Case& kase) {
  const model::ModelSpec& spec = kase.model;
  memory_map::Transformer model;
  model.name = "own";
  model.layers = spec.layers;
  model.hidden = spec.hidden;
  model.heads = spec.heads;
  model.vocabulary = spec.outputs;
  model.sequence = spec.sequence;
  model.tied = false;
  memory_map::Training training;
  training.precision = memory_map::precision_of("f32");
  training.moments = memory_map::moments_of(spec.optimizer == model::ModelSpec::Optimizer::adam ? "adam" : "sgd");
  training.kept_by = memory_map::KeptBy::shardlings;
  training.micro_batch = kase.batch;
  return map_memory(model, {}, training);
}

void check_counters(const model::ModelSpec& spec, Count batch) {
  const cases::Case kase = case_of(spec, batch);
  const auto structure = model::make_structure(spec);
  const memory_map::StageMemory map = map_of(kase).stages[0];
  on_rank([&](Rank& rank) {
    const auto live = [&](Kind kind) { return ledger_of(rank).live_by_kind()[static_cast<std::size_t>(kind)]; };
    OnDevice on(rank, structure, weights_of(kase));
    EXPECT_EQ(map.states.weights, live(Kind::parameter));
    EXPECT_EQ(map.states.gradients, live(Kind::gradient));
    EXPECT_EQ(map.states.optimizer, live(Kind::optimizer));

    std::vector<Tensor> x;
    std::vector<Saved> saved(structure.layers.size());
    const Bytes before = live(Kind::activation);
    const Tensor ids = inputs_of(rank, kase, cases::micro_of(kase, 0, 0));
    x.push_back(clone(ids));
    for (std::size_t l = 0; l < structure.layers.size(); ++l) {
      x.push_back(on.model.forward(static_cast<int>(l), on.state.weights[l], x[l], &saved[l]));
    }
    const Bytes ids_kept(4 * ids.size());  // the copy has the kind of the batch
    EXPECT_EQ(map.activations.total(), live(Kind::activation) - before + ids_kept);
  });
}

TEST(MemoryMap, OfTheOwnModelIsWhatIsCounted) {
  model::ModelSpec spec = gpt(1, 12, 3, 7, 5);
  check_counters(spec, 3);
  spec.optimizer = model::ModelSpec::Optimizer::adam;
  check_counters(spec, 1);
  check_counters(gpt(4, 8, 4, 50, 9), 2);
  check_counters(gpt(2, 4, 4, 3, 40), 2);
}

}  // namespace
}  // namespace shardlings::model_test
