// diagnosis: all_in_flight
// All micro-batches go forward before the first one goes backward.

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
  const int micros = batch.num_micro();
  std::vector<std::vector<Tensor>> all_x(micros);
  std::vector<std::vector<Saved>> all_saved(micros);
  std::vector<Tensor> all_grads(micros);
  for (int i = 0; i < micros; ++i) {
    all_x[i].resize(layers + 1);
    all_saved[i].resize(layers);
    all_grads[i] = forward_and_loss(model, state, batch, i, all_x[i], all_saved[i], loss);
  }
  std::vector<Work> started;
  Count open = model.total();
  for (int i = 0; i < micros; ++i) {
    const bool last = i + 1 == micros;
    Tensor grad = std::move(all_grads[i]);
    x = std::move(all_x[i]);
    saved = std::move(all_saved[i]);
    for (int l = layers - 1; l >= 0; --l) {
      const Range own = model.range(l);
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), grads.part(own));
      x[l] = {};
      if (last && (open - own.begin >= bucket || l == 0)) {
        started.push_back(world.all_reduce_async(grads.part({own.begin, open}), ReduceOp::sum));
        open = own.begin;
      }
    }
  }
  for (Work& work : started) work.wait();
  for (int l = 0; l < layers; ++l) {
    model.update(l, state.weights[l], grads.part(model.range(l)), state.optimizer[l]);
  }
  // <<<
}
