// Sets the rank up with one flat gradient, calls the learner's train_step, and publishes what is judged.

#include "submission/harness.h"

#include <string>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, TrainState& state, View grads,
                                             const Batch& batch, Count bucket, View loss));

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state({.grads = false});
  Tensor grads = h.rank().zeros(model.total(), Kind::gradient, DType::f32, {});  // no line: the puzzle is given it
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    if (step > 0) {
      fill(grads, 0);
      fill(loss, 0);
    }
    train_step(h.rank(), model, state, grads, batch, h.integer("bucket"), loss);
  }
  h.end();
  h.put_layers("weights", state.weights);
  for (int l = 0; l < model.num_layers(); ++l) h.put("grads." + std::to_string(l), grads.part(model.range(l)));
  if (h.kase().model.optimizer == model::ModelSpec::Optimizer::adam) h.put_moments(state.optimizer, h.rank().world());
  h.put_of_rank("loss by rank", loss);  // the shares add up to the loss of the step
}
