// diagnosis: clipped_by_layer
// One loop for everything: each rank cuts its part of each layer to the limit by itself.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
  }

  // >>> your code (about 13 lines)
  std::vector<Tensor> factors(layers);
  for (int l = 0; l < layers; ++l) {
    View mine = state.grads[l].part(world.mine(model.size(l)));
    world.reduce_scatter(state.grads[l], mine, ReduceOp::sum);
    Tensor squares = rank.zeros(1, Kind::other);
    add_squares(squares, mine);
    factors[l] = clip_factor(squares, limit);
  }
  for (int l = 0; l < layers; ++l) {
    const Range own = world.mine(model.size(l));
    View mine = state.weights[l].part(own);
    model.update(l, mine, state.grads[l].part(own), state.optimizer[l], factors[l]);
    world.all_gather(mine, state.weights[l]);
  }
  // <<<
}
