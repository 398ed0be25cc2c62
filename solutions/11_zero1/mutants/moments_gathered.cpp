// diagnosis: not_sharded
// Gathers all moments, updates everything, and keeps its own part of the moments.

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
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = 0; l < layers; ++l) {
    world.all_reduce(state.grads[l], ReduceOp::sum);
    add_squares(squares, state.grads[l]);
  }
  const Tensor factor = clip_factor(squares, limit);
  std::vector<OptimizerState> whole(layers);
  for (int l = 0; l < layers; ++l) {
    const Range own = world.mine(model.size(l));
    OptimizerState& mine = state.optimizer[l];
    whole[l].step = mine.step;
    whole[l].m = rank.empty(model.size(l), Kind::optimizer);
    whole[l].v = rank.empty(model.size(l), Kind::optimizer);
    world.all_gather(mine.m, whole[l].m);
    world.all_gather(mine.v, whole[l].v);
    model.update(l, state.weights[l], state.grads[l], whole[l], factor);
    copy(mine.m, whole[l].m.part(own));
    copy(mine.v, whole[l].v.part(own));
    mine.step = whole[l].step;
  }
  // <<<
}
