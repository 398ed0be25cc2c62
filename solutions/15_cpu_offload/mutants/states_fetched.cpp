// diagnosis: states_on_device
// Brings the moments of each layer to the device, updates there, and takes everything back.

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
    const Range range = world.mine(model.size(l));
    const View mine = gw.part(range), weights = state.weights[l].part(range);
    world.reduce_scatter(gw, mine, ReduceOp::sum);
    copy(host.grads[l], mine);
    Tensor m = rank.empty(range.size(), Kind::optimizer), v = rank.empty(range.size(), Kind::optimizer);
    copy(m, host.optimizer[l].m);
    copy(v, host.optimizer[l].v);
    adam(weights, mine, m, v, step);
    copy(host.weights[l], weights);
    copy(host.optimizer[l].m, m);
    copy(host.optimizer[l].v, v);
    world.all_gather(weights, state.weights[l]);
  }
}
