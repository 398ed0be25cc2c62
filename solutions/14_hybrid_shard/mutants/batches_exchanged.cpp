// diagnosis: batches_exchanged
// Collects the batches of the other nodes, so that every node computes the whole gradient.

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
  const Count n = batch.inputs.size(), t = batch.targets.size();
  Tensor inputs = rank.empty(n * replicas.size(), Kind::other, batch.inputs.dtype());
  Tensor targets = rank.empty(t * replicas.size(), Kind::other, DType::i32);
  replicas.all_gather(batch.inputs, inputs);
  replicas.all_gather(batch.targets, targets);
  for (int r = 0; r < replicas.size(); ++r) {
    x[0] = clone(inputs.part({r * n, (r + 1) * n}).reshaped(batch.inputs.shape()));
    for (int l = 0; l < layers; ++l) {
      Unit unit = gather(l);
      unit.gathered.wait();
      x[l + 1] = model.forward(l, unit.full, x[l], &saved[l]);
    }
    const View ids = targets.part({r * t, (r + 1) * t}).reshaped(batch.targets.shape());
    Tensor share = rank.zeros(1, Kind::other);
    Tensor grad = model.loss(std::move(x[layers]), ids, batch.tokens_of_step(), share);
    if (r == replicas.rank()) add(loss, share);
    for (int l = layers - 1; l >= 0; --l) {
      Unit unit = gather(l);
      unit.gathered.wait();
      Tensor full = rank.zeros(model.size(l), Kind::gradient);
      grad = model.backward(l, unit.full, x[l], std::move(saved[l]), std::move(grad), full);
      x[l] = {};
      Tensor part = rank.empty(shard.mine(full.size()).size(), Kind::gradient);
      shard.reduce_scatter(full, part, ReduceOp::sum);
      add(state.grads[l], part);
    }
  }
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
