// Gives each rank its chunks of layers, calls the learner's train_step, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, const std::vector<Stage>& chunks,
                                             const Batch& batch, View loss));

SHARDLINGS_HARNESS(h) {
  const int v = static_cast<int>(h.integer("chunks"));
  const std::vector<Range> layers = h.layers_of_chunks(h.rank().id(), h.rank().size(), v);
  TrainState state = h.state({.layers = layers});
  const std::vector<Stage> chunks = h.stages(layers, state);
  const Batch batch = h.batch({.inputs = chunks.front().is_first(), .targets = chunks.back().is_last()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_step(h.rank(), h.model(), chunks, batch, loss);
  h.end();
  h.put_layers("grads", state.grads);
  h.put_of_rank("loss by rank", loss);
}
