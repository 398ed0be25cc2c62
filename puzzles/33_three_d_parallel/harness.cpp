// Sets a rank of the grid up with its chunks, its part of each layer and its part of the moments; trains as many steps
// as the case has, and publishes what is judged.

#include "submission/harness.h"

#include <limits>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, const GridShare& share, const Batch& batch,
                                             float limit, View loss));

SHARDLINGS_HARNESS(h) {
  const auto number = [&](const char* name) { return static_cast<int>(h.integer(name)); };
  const auto [tp, dp, down, up, ends] = h.grid_groups(number("t"), number("p"), number("d"));
  h.divide_layers(tp);
  const std::vector<Range> layers = h.layers_of_chunks(down.rank(), down.size(), number("v"));
  TrainState state = h.state({.layers = layers, .group = dp, .divided = {.optimizer = true}});
  const std::vector<Stage> chunks = h.stages(layers, state);
  const Batch batch = h.batch({.inputs = chunks.front().is_first(), .targets = chunks.back().is_last()});
  const GridShare share{chunks, state, down, up, dp, ends};
  const float clip = h.kase().model.clip, limit = clip > 0 ? clip : std::numeric_limits<float>::max();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    h.clear(state.grads);
    fill(loss, 0);
    train_step(h.rank(), h.model(), share, batch, limit, loss);
    if (step > 0 || h.kase().steps == 1) continue;
    h.put_parts("first step's grads", state.grads, dp);  // by what comes later, a mistake can hardly be told
    h.put_moments(state.optimizer, dp, "first step's ");
  }
  h.end();
  h.put_layers("weights", state.weights);
  h.put_parts("grads", state.grads, dp);
  h.put_moments(state.optimizer, dp);
  h.put_of_rank("loss by rank", loss);
}
