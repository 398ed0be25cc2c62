// Sets the rank up with 16-bit weights and gradients and a 32-bit optimizer, trains as many steps as the case has,
// spoils one rank's gradient in some of them, of all layers or of one, and publishes what is judged.

#include "submission/harness.h"

#include <limits>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, TrainState& state, const Batch& batch,
                                             MixedPrecision& mixed, View loss));

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  TrainState state = h.state({.dtype = DType::bf16});
  const Batch batch = h.batch();
  Tensor losses = h.rank().zeros(h.kase().steps, Kind::other);  // one for each step
  AdamStep adam_step;
  adam_step.lr = h.kase().model.lr;
  adam_step.eps = h.kase().model.eps;
  MixedPrecision mixed;
  mixed.limit = h.kase().model.clip;
  mixed.growth = static_cast<int>(h.integer("growth"));
  mixed.loss_scale = static_cast<float>(h.integer("scale"));
  std::vector<float> scales, counts;
  const Count spoiled_layer = h.integer("overflow_layer");  // -1: all, from the loss on
  const auto overflows = [&](int step) { return step == h.integer("overflow") || step == h.integer("overflow_again"); };
  int last_update = 0;
  for (int step = 1; step <= h.kase().steps; ++step) last_update = overflows(step) ? last_update : step;
  h.begin();
  for (int step = 1; step <= h.kase().steps; ++step) {
    const bool spoiled = overflows(step) && h.rank().id() == h.integer("overflow_rank");
    if (step > 1) h.clear(state.grads);
    if (spoiled && spoiled_layer < 0) h.spoil(true);
    if (spoiled && spoiled_layer >= 0) {
      fill(state.grads[static_cast<std::size_t>(spoiled_layer)].part({0, 1}), std::numeric_limits<float>::infinity());
    }
    if (step == last_update) h.put_layers("master before", state.master);
    mixed.adam_step = adam_step;  // its number is the learner's to give, every time
    train_step(h.rank(), model, state, batch, mixed, losses.part({step - 1, step}));
    if (spoiled && spoiled_layer < 0) h.spoil(false);
    scales.push_back(mixed.loss_scale);
    counts.push_back(static_cast<float>(mixed.clean));
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_layers("master", state.master);
  std::vector<float> updates;
  for (std::size_t l = 0; l < state.optimizer.size(); ++l) {
    h.put("m." + std::to_string(l), state.optimizer[l].m);
    h.put("v." + std::to_string(l), state.optimizer[l].v);
    updates.push_back(static_cast<float>(state.optimizer[l].step));
  }
  for (int step = 1; step <= h.kase().steps; ++step) {
    if (!overflows(step)) h.put_of_rank("loss of step " + std::to_string(step), losses.part({step - 1, step}));
  }
  h.put_of_rank("updates", h.tensor(updates, Kind::other));
  h.put_of_rank("loss scale", h.tensor(scales, Kind::other));
  h.put_of_rank("clean steps", h.tensor(counts, Kind::other));
}
