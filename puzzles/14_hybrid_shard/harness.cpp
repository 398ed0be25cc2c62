// Divides everything over the ranks of a node, trains as many steps as the case has, and publishes what is judged.

#include "submission/harness.h"

#include <algorithm>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, int ranks_per_node, const Model& model, TrainState& state,
                                             const Batch& batch, View loss));

SHARDLINGS_HARNESS(h) {
  const int all = h.rank().size(), per_node = std::min(h.kase().cluster.ranks_per_node, all);
  const Model model = h.model();
  const Group node = Grid(h.rank().world(), {{"replicate", all / per_node}, {"shard", per_node}}).along("shard");
  TrainState state = h.state({.group = node, .divided = {.weights = true, .grads = true, .optimizer = true}});
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  for (int step = 0; step < h.kase().steps; ++step) {
    if (step > 0) {
      h.clear(state.grads);
      fill(loss, 0);
    }
    train_step(h.rank(), per_node, model, state, batch, loss);
  }
  h.end();
  h.put_parts("weights", state.weights, node);  // nodes are replicas: what they publish must be equal
  h.put_parts("grads", state.grads, node);
  h.put_moments(state.optimizer, node);
  h.put_of_rank("loss by rank", loss);  // the shares add up to the loss of the step
}
