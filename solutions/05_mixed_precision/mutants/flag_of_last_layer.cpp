// diagnosis: not_skipped
// Looks for an overflow in the first gradient that arrives only.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, std::vector<Tensor>& master, const Batch& batch,
                AdamStep adam_step, float limit, float& loss_scale, int& clean, int growth, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);
  std::vector<Saved> saved(layers);
  const bool is_text = batch.inputs.dtype() == DType::i32;
  x[0] = is_text ? clone(batch.inputs) : cast(batch.inputs, DType::bf16);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);

  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  scale(grad, loss_scale);
  Tensor overflow = rank.zeros(1, Kind::other), squares = rank.zeros(1, Kind::other);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
    rank.world().all_reduce(state.grads[l], ReduceOp::sum);
    scale(state.grads[l], 1 / loss_scale);
    if (l == layers - 1) flag_nonfinite(overflow, state.grads[l]);
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
