// diagnosis: whole_batch_at_once
// One pass over everything, where the model allows it (a GPT has no positions for so long a sequence).

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 11 lines)
  const bool at_once = batch.inputs.shape().rank() == 3;
  for (int i = 0; i < (at_once ? 1 : batch.num_micro()); ++i) {
    x[0] = clone(at_once ? batch.inputs : batch.micro(i).inputs);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    const ConstView targets = at_once ? batch.targets : batch.micro(i).targets;
    Tensor grad = model.loss(std::move(x[layers]), targets, batch.tokens_of_step(), loss);
    for (int l = layers - 1; l >= 0; --l) {
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
      x[l] = {};
    }
  }
  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
  // <<<
}
