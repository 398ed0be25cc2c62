// Puzzle 33: tensor, pipeline and data parallel at once.
//
// One step of a GPT on t x p x d ranks, with ZeRO-1 over the d replicas, tied embeddings, and a clipped gradient.
// The lesson is README.md beside this file; `./shardlings explain 33` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// One training step. This rank has stage pp.rank() of p, a t-th of each of its layers, and batch dp.rank() of d.
///
/// model, stage   layers are divided over the tensor-parallel group, and their calls add up over it by themselves
/// state          weights, grads (zero) and optimizer of the stage's layers l: (model.size(l)), this rank's part of the
///                layer; the moments only of dp.mine(model.size(l)) of that. Empty for all other layers
/// pp, dp         the ranks of this pipeline; those that hold the same weights
/// ends           first and last rank of pp; this rank alone if p = 1; an empty group (false) on stages in between
/// limit, loss    as in puzzles 11 and 20; every rank of the last stage adds its batch's share to its loss
///
/// Result  weights and moments as if one device had trained on all d batches; of the gradient, the sum over the
///         replicas in dp.mine(model.size(l)) of state.grads[l], not clipped
/// Memory  min(p - r, m) micro-batches in flight; weights, gradients, moments of dp.mine, and nothing beside them
/// Wire    dp: reduce-scatter and all-gather of each layer; ends: an all-reduce of the table; world: of one number
/// Time    (m + p - 1)(F + B)
///
/// Calls that you may not know yet: model.tied(l), the Range of layer l that is the table of the embedding: in the
/// first layer and in the last one, else empty; model.owned(l), the Ranges of layer l that count here in a norm over
/// all ranks: all but what tensor-parallel rank 0 has as well, and the second table; intersect(a, b), what two Ranges
/// share.
void train_step(Rank& rank, const Model& model, const Stage& stage, TrainState& state, const Batch& batch, Group pp,
                Group dp, Group ends, float limit, View loss) {
  const int p = pp.size(), r = pp.rank(), m = batch.num_micro();
  const int first = static_cast<int>(stage.layers().begin), end = static_cast<int>(stage.layers().end);
  const int before = stage.is_first() ? kNobody : r - 1, after = stage.is_last() ? kNobody : r + 1;
  std::vector<Tensor> x(m), logits(m);
  std::vector<StageSaved> saved(m);
  Work down, up;
  const auto forward = [&](int i) {  // micro-batch i: receives its input, computes, sends its output on
    x[i] = stage.is_first() ? clone(batch.micro(i).inputs) : rank.empty(stage.input_shape(), Kind::activation);
    if (!stage.is_first()) pp.recv(x[i], before);
    Tensor y = stage.forward(x[i], &saved[i]);
    if (stage.is_last()) logits[i] = std::move(y);
    down.wait();
    down = pp.send_async(y, after).keep(std::move(y));
  };
  const auto backward = [&](int i) {  // receives its gradient, computes, sends that of its input back
    Tensor grad;
    if (stage.is_last()) {
      grad = model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss);
    } else {
      grad = rank.empty(stage.output_shape(), Kind::activation);
      pp.recv(grad, after);
    }
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad));
    x[i] = {};
    up.wait();
    up = pp.send_async(grad, before).keep(std::move(grad));
  };

  // >>> your code (about 36 lines)
  not_implemented();
  // <<<
}
