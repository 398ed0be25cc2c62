// diagnosis: one_after_another
// Everything is right, and nothing runs beside anything.

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

  for (int l = layers - 1; l >= 0; --l) {
    Tensor gw = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), gw);
    x[l] = {};
    const View mine = gw.part(world.mine(model.size(l)));
    world.reduce_scatter(gw, mine, ReduceOp::sum);
    copy(host.grads[l], mine);
    adam(host.weights[l], host.grads[l], host.optimizer[l].m, host.optimizer[l].v, step);
    const View weights = state.weights[l].part(world.mine(model.size(l)));
    copy(weights, host.weights[l]);
    world.all_gather(weights, state.weights[l]);
  }
}
