// diagnosis: whole_batch_everywhere
// Collects the batches of all ranks: everybody computes everything, and nothing is left to reduce.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

Tensor forward_and_loss(const Model& model, const TrainState& state, const Batch& batch, int micro,
                        std::vector<Tensor>& x, std::vector<Saved>& saved, View loss) {
  const int layers = model.num_layers();
  x[0] = clone(batch.micro(micro).inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  return model.loss(std::move(x[layers]), batch.micro(micro).targets, batch.tokens_of_step(), loss);
}

void train_step(Rank& rank, const Model& model, TrainState& state, View grads, const Batch& batch, Count bucket,
                View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 17 lines)
  const Count n = world.size(), inputs = batch.inputs.size(), targets = batch.targets.size();
  const Count micros = n * batch.num_micro();
  Tensor all_inputs = rank.empty(n * inputs, Kind::other, batch.inputs.dtype());
  Tensor all_targets = rank.empty(n * targets, Kind::other, DType::i32);
  world.all_gather(batch.inputs, all_inputs);
  world.all_gather(batch.targets, all_targets);
  const Count in = batch.micro(0).inputs.size(), out = batch.micro(0).targets.size();
  for (Count i = 0; i < micros; ++i) {
    const bool mine = i / batch.num_micro() == rank.id();
    x[0] = clone(all_inputs.part({i * in, (i + 1) * in}).reshaped(batch.micro(0).inputs.shape()));
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor others = rank.zeros(1, Kind::other);
    Tensor grad = model.loss(std::move(x[layers]), all_targets.part({i * out, (i + 1) * out}), batch.tokens_of_step(),
                             mine ? loss : View(others));
    for (int l = layers - 1; l >= 0; --l) {
      const View own = grads.part(model.range(l));
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), own);
      x[l] = {};
    }
  }
  for (int l = 0; l < layers; ++l) {
    model.update(l, state.weights[l], grads.part(model.range(l)), state.optimizer[l]);
  }
  // <<<
}
