// Sets a rank of the grid up with its stage, its part of each layer and its part of the moments; trains as many steps
// as the case has, and publishes what is judged.

#include "grading/harness.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, const Stage& stage, TrainState& state, const Batch& batch, Group pp,
                Group dp, Group ends, float limit, View loss);

SHARDLINGS_HARNESS(h) {
  const auto axis = [&](const char* name) { return static_cast<int>(h.integer(name)); };
  const Grid grid(h.rank().world(), {{"dp", axis("d")}, {"pp", axis("p")}, {"tp", axis("t")}});
  const Group tp = grid.along("tp"), pp = grid.along("pp"), dp = grid.along("dp");
  const bool is_end = pp.rank() == 0 || pp.rank() == pp.size() - 1;
  const int pipeline = dp.rank() * tp.size() + tp.rank();
  const Group ends = h.rank().world().split(is_end ? pipeline : kNobody, pp.rank(), "ends");
  h.divide_layers(tp);
  const Range layers = h.layers_of_stage(pp.rank(), pp.size());
  TrainState state = h.state_of_layers(layers, dp, {.optimizer = true});
  const Stage stage = h.stage(layers, state);
  const Batch batch = h.batch({.inputs = stage.is_first(), .targets = stage.is_last()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    h.clear(state.grads);
    fill(loss, 0);
    train_step(h.rank(), h.model(), stage, state, batch, pp, dp, ends, h.kase().model.clip, loss);
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_parts("grads", state.grads, dp);
  h.put_moments(state.optimizer, dp);
  h.put_of_rank("loss by rank", loss);
}
