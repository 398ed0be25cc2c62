// Sets the rank up with weights on the device and the optimizer's part of everything on the host, trains as many steps
// as the case has, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, TrainState& state, TrainState& host,
                                             const Batch& batch, const AdamStep& step, View loss));

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state;
  for (int l = 0; l < model.num_layers(); ++l) state.weights.push_back(h.weights(l));
  TrainState host =
      h.state({.divided = {.weights = true, .grads = true, .optimizer = true}, .memory = submission::Memory::host});
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  AdamStep step;
  step.lr = h.kase().model.lr;
  step.eps = h.kase().model.eps;
  h.begin();
  for (step.step = 1; step.step <= h.kase().steps; ++step.step) {
    if (step.step > 1) fill(loss, 0);
    train_step(h.rank(), model, state, host, batch, step, loss);
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_parts("grads", host.grads, h.rank().world());
  h.put_parts("host weights", host.weights, h.rank().world());
  h.put_moments(host.optimizer, h.rank().world());
  h.put_of_rank("loss by rank", loss);  // the shares add up to the loss of the step
}
