// Gives each rank its chunks of layers, calls the learner's train_step, and publishes what is judged.

#include "grading/harness.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, const std::vector<Stage>& chunks, const Batch& batch, View loss);

SHARDLINGS_HARNESS(h) {
  const int p = h.rank().size(), v = static_cast<int>(h.integer("chunks"));
  std::vector<TrainState> states(v);
  std::vector<Stage> chunks;
  for (int c = 0; c < v; ++c) {
    const Range layers = h.layers_of_stage(c * p + h.rank().id(), p * v);
    states[c] = h.state_of_layers(layers);
    chunks.push_back(h.stage(layers, states[c]));
  }
  const Batch batch = h.batch({.inputs = chunks.front().is_first(), .targets = chunks.back().is_last()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_step(h.rank(), h.model(), chunks, batch, loss);
  h.end();
  for (const TrainState& state : states) h.put_layers("grads", state.grads);
  h.put_of_rank("loss by rank", loss);
}
