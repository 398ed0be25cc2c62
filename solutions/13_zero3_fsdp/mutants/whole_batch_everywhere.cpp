// diagnosis: whole_batch_everywhere
// Collects the batches of all ranks, so that every rank computes the whole gradient and keeps its part.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole weights of one layer: on their way, or there.
struct Unit {
  Tensor full;    // (model.size(l))
  Work gathered;  // the all-gather that fills it
};

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 25 lines)
  const auto gather = [&](int l) {
    Unit unit{rank.empty(model.size(l), Kind::parameter), {}};
    unit.gathered = world.all_gather_async(state.weights[l], unit.full);
    return unit;
  };
  const Count n = batch.inputs.size(), t = batch.targets.size();
  Tensor inputs = rank.empty(n * world.size(), Kind::other, batch.inputs.dtype());
  Tensor targets = rank.empty(t * world.size(), Kind::other, DType::i32);
  world.all_gather(batch.inputs, inputs);
  world.all_gather(batch.targets, targets);
  for (int r = 0; r < world.size(); ++r) {
    x[0] = clone(inputs.part({r * n, (r + 1) * n}).reshaped(batch.inputs.shape()));
    Unit now, next = gather(0);
    for (int l = 0; l < layers; ++l) {
      now = std::move(next);
      if (l + 1 < layers) next = gather(l + 1);
      now.gathered.wait();
      x[l + 1] = model.forward(l, now.full, x[l], &saved[l]);
    }
    const View ids = targets.part({r * t, (r + 1) * t}).reshaped(batch.targets.shape());
    Tensor share = rank.zeros(1, Kind::other);
    Tensor grad = model.loss(std::move(x[layers]), ids, batch.tokens_of_step(), share);
    if (r == rank.id()) add(loss, share);
    for (int l = layers - 1; l >= 0; --l) {
      if (l < layers - 1) now = std::move(next);
      if (l > 0) next = gather(l - 1);
      now.gathered.wait();
      Tensor full = rank.zeros(model.size(l), Kind::gradient);
      grad = model.backward(l, now.full, x[l], std::move(saved[l]), std::move(grad), full);
      x[l] = {};
      add(state.grads[l], full.part(world.mine(full.size())));
    }
  }
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
