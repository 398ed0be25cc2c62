// diagnosis: some_layers_apart
// Begins one turn too late: the last layer is reduced inside its node only.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole weights of one layer: on their way, or there.
struct Unit {
  Tensor full;    // (model.size(l))
  Work gathered;  // the all-gather that fills it
};

void train_step(Rank& rank, int ranks_per_node, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 40 lines)
  const Grid grid(rank.world(), {{"replicate", rank.size() / ranks_per_node}, {"shard", ranks_per_node}});
  Group shard = grid.along("shard"), replicas = grid.along("replicate");

  const auto gather = [&](int l) {
    Unit unit{rank.empty(model.size(l), Kind::parameter), {}};
    unit.gathered = shard.all_gather_async(state.weights[l], unit.full);
    return unit;
  };
  Unit now, next = gather(0);
  for (int l = 0; l < layers; ++l) {
    now = std::move(next);
    if (l + 1 < layers) next = gather(l + 1);
    now.gathered.wait();
    x[l + 1] = model.forward(l, now.full, x[l], &saved[l]);
  }
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);

  Work scattered;
  std::vector<Work> reduced(layers);
  const auto reduce_between_nodes = [&](int l) {
    scattered.wait();
    reduced[l] = replicas.all_reduce_async(state.grads[l], ReduceOp::sum);
  };
  for (int l = layers - 1; l >= 0; --l) {
    if (l < layers - 1) now = std::move(next);
    if (l > 0) next = gather(l - 1);
    now.gathered.wait();
    Tensor full = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, now.full, x[l], std::move(saved[l]), std::move(grad), full);
    x[l] = {};
    if (l < layers - 2) {
      reduce_between_nodes(l + 1);
    } else {
      scattered.wait();
    }
    scattered = shard.reduce_scatter_async(full, state.grads[l], ReduceOp::sum).keep(std::move(full));
  }
  reduce_between_nodes(0);
  for (Work& work : reduced) work.wait();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
