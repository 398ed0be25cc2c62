// diagnosis: waited_too_early
// Waits for the layer that comes back last before it gathers any.

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

  Work drained;
  std::vector<Work> filled(layers);
  for (int l = layers - 1; l >= 0; --l) {
    Tensor gw = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), gw);
    x[l] = {};
    drained.wait();
    const Range mine = world.mine(model.size(l));
    const Work reduced = world.reduce_scatter_async(gw, gw.part(mine), ReduceOp::sum);
    drained = copy_async(host.grads[l], gw.part(mine), reduced).keep(std::move(gw));
    OptimizerState& moments = host.optimizer[l];
    const Work updated = adam_async(host.weights[l], host.grads[l], moments.m, moments.v, step, drained);
    filled[l] = copy_async(state.weights[l].part(mine), host.weights[l], updated);
  }
  std::vector<Work> gathered(layers);
  for (int l = 0; l < layers; ++l) {
    filled[l].wait();
    gathered[l] = world.all_gather_async(state.weights[l].part(world.mine(model.size(l))), state.weights[l]);
  }
  for (Work& work : gathered) work.wait();
}
