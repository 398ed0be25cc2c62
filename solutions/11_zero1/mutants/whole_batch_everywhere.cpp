// diagnosis: whole_batch_everywhere
// Collects the batches of all ranks: everybody computes everything, and nothing is left to reduce.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  const Shape shape = batch.inputs.shape();
  const Count n = world.size(), inputs = batch.inputs.size(), targets = batch.targets.size();
  Tensor all_inputs = rank.empty(n * inputs, Kind::other, batch.inputs.dtype());
  Tensor all_targets = rank.empty(n * targets, Kind::other, DType::i32);
  world.all_gather(batch.inputs, all_inputs);
  world.all_gather(batch.targets, all_targets);
  for (int r = 0; r < n; ++r) {
    std::vector<Tensor> x(layers + 1);
    std::vector<Saved> saved(layers);
    x[0] = clone(all_inputs.part({r * inputs, (r + 1) * inputs}).reshaped(shape));
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor unused = rank.zeros(1, Kind::other);
    Tensor grad = model.loss(std::move(x[layers]), all_targets.part({r * targets, (r + 1) * targets}),
                             batch.tokens_of_step(), r == rank.id() ? loss : View(unused));
    for (int l = layers - 1; l >= 0; --l) {
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
      x[l] = {};
    }
  }

  // >>> your code (about 13 lines)
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = 0; l < layers; ++l) {
    View mine = state.grads[l].part(world.mine(model.size(l)));
    add_squares(squares, mine);
  }
  world.all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  for (int l = 0; l < layers; ++l) {
    const Range own = world.mine(model.size(l));
    View mine = state.weights[l].part(own);
    model.update(l, mine, state.grads[l].part(own), state.optimizer[l], factor);
    world.all_gather(mine, state.weights[l]);
  }
  // <<<
}
