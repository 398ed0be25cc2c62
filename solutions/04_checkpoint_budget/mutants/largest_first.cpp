// diagnosis: largest_first
// Recomputes the layers that save most, until the rest fits.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, Count budget, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, width of l), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  std::vector<bool> again(layers);    // the plan: true for layers that run forward a second time
  const Count s = batch.inputs.shape()[0], b = batch.inputs.shape()[1];

  // >>> your code (about 36 lines)
  const auto fits = [&] {
    Count inputs = 0, kept = 0;
    for (int l = 0; l < layers; ++l) {
      const LayerCost cost = model.cost(l, s, b);
      inputs += cost.input;
      const Count work = again[l] ? std::max(cost.backward, cost.forward + cost.output) : cost.backward;
      if (inputs + kept + work > budget) return false;
      if (!again[l]) kept += cost.saved;
    }
    return true;
  };
  std::vector<int> order;
  for (int l = 0; l < layers; ++l) {
    if (model.cost(l, s, b).saved > 0) order.push_back(l);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return model.cost(i, s, b).saved > model.cost(j, s, b).saved; });
  for (const int l : order) {
    if (fits()) break;
    again[l] = true;
  }

  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], again[l] ? nullptr : &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    if (again[l]) model.forward(l, state.weights[l], x[l], &saved[l]);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
  }
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
