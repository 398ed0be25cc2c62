// Sets the rank up, calls the learner's train_step, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step,
                            void(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss));

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state();
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_step(h.rank(), model, state, batch, loss);
  h.end();
  h.put_layers("grads", state.grads);
  h.put("loss", loss);
}
