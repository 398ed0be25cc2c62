// Sets the rank up, calls the learner's train_step, and publishes what is judged.

#include "grading/harness.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss);

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state();
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_step(h.rank(), model, state, batch, loss);
  h.end();
  h.put_layers("weights", state.weights);
  h.put_layers("grads", state.grads);
  // The ranks' shares of the loss add up to that of the step; not counted any more.
  h.rank().world().all_reduce(loss, ReduceOp::sum);
  h.put("loss", loss);
}
