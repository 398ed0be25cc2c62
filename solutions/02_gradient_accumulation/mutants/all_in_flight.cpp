// diagnosis: all_in_flight
// All micro-batches go forward before the first goes backward.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 11 lines)
  std::vector<std::vector<Tensor>> xs;
  std::vector<std::vector<Saved>> saves;
  for (int i = 0; i < batch.num_micro(); ++i) {
    x[0] = clone(batch.micro(i).inputs);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    xs.push_back(std::move(x));
    saves.push_back(std::move(saved));
    x = std::vector<Tensor>(layers + 1);
    saved = std::vector<Saved>(layers);
  }
  for (int i = 0; i < batch.num_micro(); ++i) {
    Tensor grad = model.loss(std::move(xs[i][layers]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    for (int l = layers - 1; l >= 0; --l) {
      grad = model.backward(l, state.weights[l], xs[i][l], std::move(saves[i][l]), std::move(grad), state.grads[l]);
      xs[i][l] = {};
    }
  }
  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
  // <<<
}
