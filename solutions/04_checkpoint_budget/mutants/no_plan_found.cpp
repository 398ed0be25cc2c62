// diagnosis: nothing_recomputed
// Counts the Saved on top of backward, kept or not: where that leaves no plan at all, nothing is recomputed.

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
  struct Choice {
    Count flops = 0;
    std::vector<bool> again;
  };
  std::map<Count, Choice> choices = {{0, {}}};
  Count inputs = 0;
  for (int l = 0; l < layers; ++l) {
    const LayerCost cost = model.cost(l, s, b);
    inputs += cost.input;
    std::map<Count, Choice> next;
    const auto consider = [&](Count kept, Choice choice, bool second) {
      if (second) choice.flops += cost.flops;
      choice.again.push_back(second);
      const auto [at, is_new] = next.try_emplace(kept, choice);
      if (!is_new && choice.flops < at->second.flops) at->second = choice;
    };
    for (const auto& [kept, choice] : choices) {
      if (inputs + kept + cost.saved + cost.backward > budget) continue;
      consider(kept + cost.saved, choice, false);
      consider(kept, choice, true);
    }
    choices = std::move(next);
  }
  const auto cheaper = [](const auto& a, const auto& c) { return a.second.flops < c.second.flops; };
  const auto best = std::min_element(choices.begin(), choices.end(), cheaper);
  if (best != choices.end()) again = best->second.again;

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
