// diagnosis: invalid_argument
// Backward adds to this rank's part, as if it knew which elements that are.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole gradient of one layer: being filled by backward, or on its way into the parts.
struct Bucket {
  int layer = -1;
  Tensor full;   // (model.size(layer)); none: there is no bucket
  Work reduced;  // its reduce-scatter
};

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 21 lines)
  for (int i = 0; i < batch.num_micro(); ++i) {
    x[0] = clone(batch.micro(i).inputs);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor grad = model.loss(std::move(x[layers]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    for (int l = layers - 1; l >= 0; --l) {
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
      x[l] = {};
    }
  }
  // <<<

  // As in puzzle 11: the norm from all parts, an update of the own part, and everybody's parts of the weights.
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = 0; l < layers; ++l) add_squares(squares, state.grads[l]);
  world.all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  std::vector<Work> gathered(layers);
  for (int l = 0; l < layers; ++l) {
    View mine = state.weights[l].part(world.mine(model.size(l)));
    model.update(l, mine, state.grads[l], state.optimizer[l], factor);
    gathered[l] = world.all_gather_async(mine, state.weights[l]);
  }
  for (Work& work : gathered) work.wait();
}
