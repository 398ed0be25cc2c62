// diagnosis: started_late
// Starts the all-reduce of a layer after the backward of the layer below.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);

  // >>> your code (about 11 lines)
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  std::vector<Work> reduced(layers);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
    if (l + 1 < layers) reduced[l + 1] = world.all_reduce_async(state.grads[l + 1], ReduceOp::sum);
  }
  reduced[0] = world.all_reduce_async(state.grads[0], ReduceOp::sum);
  for (int l = layers - 1; l >= 0; --l) {
    reduced[l].wait();
    model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
  }
  // <<<
}
