// Gives each rank the layers of its stage, calls the learner's train_step, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, const Stage& stage, const Batch& batch,
                                             int most, View loss));

SHARDLINGS_HARNESS(h) {
  const Range layers = h.layers_of_stage(h.rank().id(), h.rank().size());
  TrainState state = h.state({.layers = {layers}});
  const Stage stage = h.stage(layers, state);
  const Batch batch = h.batch({.inputs = stage.is_first(), .targets = stage.is_last()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_step(h.rank(), h.model(), stage, batch, static_cast<int>(h.integer("most")), loss);
  h.end();
  h.put_layers("grads", state.grads);
  h.put_of_rank("loss by rank", loss);
}
