// diagnosis: other_buckets
// Closes a bucket before the layer with which it would hold more than it may, as if `bucket` were a capacity.

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
  std::vector<Work> started;
  Count open = model.total();
  for (int i = 0; i < batch.num_micro(); ++i) {
    const bool last = i + 1 == batch.num_micro();
    Tensor grad = forward_and_loss(model, state, batch, i, x, saved, loss);
    for (int l = layers - 1; l >= 0; --l) {
      const Range own = model.range(l);
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), grads.part(own));
      x[l] = {};
      if (last && open > own.end && open - own.begin > bucket) {
        started.push_back(world.all_reduce_async(grads.part({own.end, open}), ReduceOp::sum));
        open = own.end;
      }
      if (last && l == 0) started.push_back(world.all_reduce_async(grads.part({0, open}), ReduceOp::sum));
    }
  }
  for (Work& work : started) work.wait();
  for (int l = 0; l < layers; ++l) {
    model.update(l, state.weights[l], grads.part(model.range(l)), state.optimizer[l]);
  }
  // <<<
}
