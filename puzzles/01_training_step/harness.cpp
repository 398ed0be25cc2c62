// Sets the rank up, calls the learner's train_step for each step of the case, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step,
                            void(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss));

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state({.grads = false});
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    if (step > 0) fill(loss, 0);
    train_step(h.rank(), model, state, batch, loss);
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_optimizer(state.optimizer);
  h.put("loss", loss);
}
