// diagnosis: whole_batch_everywhere
// Every rank computes the batches of all: the right sums without a reduction.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, TrainState& host, const Batch& batch,
                const AdamStep& step, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);

  const Count n = batch.inputs.size(), t = batch.targets.size();
  Tensor inputs = rank.empty(n * world.size(), Kind::other, batch.inputs.dtype());
  Tensor targets = rank.empty(t * world.size(), Kind::other, DType::i32);
  world.all_gather(batch.inputs, inputs);
  world.all_gather(batch.targets, targets);
  std::vector<Tensor> sums(layers);
  for (int r = 0; r < world.size(); ++r) {  // those of the others
    if (r == rank.id()) continue;
    std::vector<Tensor> y(layers + 1);
    std::vector<Saved> kept(layers);
    y[0] = clone(inputs.part({r * n, (r + 1) * n}).reshaped(batch.inputs.shape()));
    for (int l = 0; l < layers; ++l) y[l + 1] = model.forward(l, state.weights[l], y[l], &kept[l]);
    Tensor share = rank.zeros(1, Kind::other);
    Tensor back = model.loss(std::move(y[layers]), targets.part({r * t, (r + 1) * t}).reshaped(batch.targets.shape()),
                             batch.tokens_of_step(), share);
    for (int l = layers - 1; l >= 0; --l) {
      if (!sums[l]) sums[l] = rank.zeros(model.size(l), Kind::gradient);
      back = model.backward(l, state.weights[l], y[l], std::move(kept[l]), std::move(back), sums[l]);
    }
  }
  Work drained;
  std::vector<Work> filled(layers);
  for (int l = layers - 1; l >= 0; --l) {
    Tensor gw = sums[l] ? std::move(sums[l]) : rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), gw);
    x[l] = {};
    drained.wait();
    const Range mine = world.mine(model.size(l));
    drained = copy_async(host.grads[l], gw.part(mine)).keep(std::move(gw));
    OptimizerState& moments = host.optimizer[l];
    const Work updated = adam_async(host.weights[l], host.grads[l], moments.m, moments.v, step, drained);
    filled[l] = copy_async(state.weights[l].part(mine), host.weights[l], updated);
  }
  std::vector<Work> gathered(layers);
  for (int l = layers - 1; l >= 0; --l) {
    filled[l].wait();
    gathered[l] = world.all_gather_async(state.weights[l].part(world.mine(model.size(l))), state.weights[l]);
  }
  for (Work& work : gathered) work.wait();
}
