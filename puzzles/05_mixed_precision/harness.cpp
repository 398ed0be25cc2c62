// Sets the rank up with 16-bit weights and gradients and a 32-bit optimizer, trains as many steps as the case has,
// spoils one rank's batch in some of them, and publishes what is judged.

#include "grading/harness.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, std::vector<Tensor>& master, const Batch& batch,
                AdamStep adam_step, float limit, float& loss_scale, int& clean, int growth, View loss);

SHARDLINGS_HARNESS(h) {
  const Model model = h.model();
  std::vector<Tensor> master;
  TrainState state = h.state_mixed(master);
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  AdamStep adam_step;
  adam_step.lr = h.kase().model.lr;
  adam_step.eps = h.kase().model.eps;
  auto loss_scale = static_cast<float>(h.integer("scale"));
  int clean = 0;
  std::vector<float> scales, counts;
  h.begin();
  for (int step = 1; step <= h.kase().steps; ++step) {
    const bool overflows = step == h.integer("overflow") || step == h.integer("overflow_again");
    const bool spoiled = overflows && h.rank().id() == h.integer("overflow_rank");
    if (spoiled) h.spoil(true);
    if (step > 1) {
      h.clear(state.grads);
      fill(loss, 0);
    }
    train_step(h.rank(), model, state, master, batch, adam_step, h.kase().model.clip, loss_scale, clean,
               static_cast<int>(h.integer("growth")), loss);
    if (spoiled) h.spoil(false);
    scales.push_back(loss_scale);
    counts.push_back(static_cast<float>(clean));
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_layers("master", master);
  std::vector<float> updates;
  for (std::size_t l = 0; l < state.optimizer.size(); ++l) {
    h.put("m." + std::to_string(l), state.optimizer[l].m);
    h.put("v." + std::to_string(l), state.optimizer[l].v);
    updates.push_back(static_cast<float>(state.optimizer[l].step));
  }
  h.put_of_rank("updates", h.tensor(updates, Kind::other));
  h.put_of_rank("loss scale", h.tensor(scales, Kind::other));
  h.put_of_rank("clean steps", h.tensor(counts, Kind::other));
}
