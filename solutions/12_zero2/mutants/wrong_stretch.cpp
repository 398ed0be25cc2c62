// diagnosis: wrong_stretch
// Every rank takes the first stretch of the bucket, which holds the sum on rank 0 only.

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
  Bucket sent;
  const auto arrive = [&] {
    sent.reduced.wait();
    if (sent.full) add(state.grads[sent.layer], sent.full.part({0, state.grads[sent.layer].size()}));
    sent = {};
  };
  for (int i = 0; i < batch.num_micro(); ++i) {
    const MicroBatch& micro = batch.micro(i);
    x[0] = clone(micro.inputs);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor grad = model.loss(std::move(x[layers]), micro.targets, batch.tokens_of_step(), loss);
    for (int l = layers - 1; l >= 0; --l) {
      Tensor full = rank.zeros(model.size(l), Kind::gradient);
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), full);
      x[l] = {};
      arrive();
      Work reduced = world.reduce_scatter_async(full, full.part(world.mine(full.size())), ReduceOp::sum);
      sent = {l, std::move(full), std::move(reduced)};
    }
  }
  arrive();
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
