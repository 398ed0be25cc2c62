// diagnosis: whole_batch_everywhere
// Every rank computes the batches of all: the right sums without a reduction.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, std::vector<Tensor>& master, const Batch& batch,
                AdamStep adam_step, float limit, float& loss_scale, int& clean, int growth, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  Tensor overflow = rank.zeros(1, Kind::other), squares = rank.zeros(1, Kind::other);
  const bool is_text = batch.inputs.dtype() == DType::i32;
  Group& world = rank.world();
  const Count n = batch.inputs.size(), t = batch.targets.size();
  Tensor inputs, targets;
  if (world.size() > 1) {
    inputs = rank.empty(n * world.size(), Kind::other, batch.inputs.dtype());
    targets = rank.empty(t * world.size(), Kind::other, DType::i32);
    world.all_gather(batch.inputs, inputs);
    world.all_gather(batch.targets, targets);
  }
  for (int r = 0; r < world.size(); ++r) {
    const bool own = r == rank.id();
    ConstView in = batch.inputs, to = batch.targets;
    if (!own) in = inputs.part({r * n, (r + 1) * n}).reshaped(in.shape());
    if (!own) to = targets.part({r * t, (r + 1) * t}).reshaped(to.shape());
    x[0] = is_text ? clone(in) : cast(in, DType::bf16);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor share;
    if (!own) share = rank.zeros(1, Kind::other);
    Tensor grad = model.loss(std::move(x[layers]), to, batch.tokens_of_step(), own ? loss : static_cast<View>(share));
    scale(grad, loss_scale);
    for (int l = layers - 1; l >= 0; --l) {
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
      x[l] = {};
    }
  }
  for (int l = layers - 1; l >= 0; --l) {
    scale(state.grads[l], 1 / loss_scale);
    flag_nonfinite(overflow, state.grads[l]);
    add_squares(squares, state.grads[l]);
  }
  if (rank.read(overflow) != 0) {
    loss_scale /= 2;
    clean = 0;
    return;
  }
  const Tensor factor = clip_factor(squares, limit);
  for (int l = 0; l < layers; ++l) {
    OptimizerState& moments = state.optimizer[l];
    adam_step.step = ++moments.step;
    adam(master[l], state.grads[l], moments.m, moments.v, adam_step, factor);
    cast_into(state.weights[l], master[l]);
  }
  if (++clean == growth) {
    loss_scale *= 2;
    clean = 0;
  }
}
