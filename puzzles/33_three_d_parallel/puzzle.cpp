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
  // 1F1B.
  const int warm_up = std::min(p - r - 1, m);
  for (int i = 0; i < warm_up; ++i) forward(i);
  for (int i = warm_up; i < m; ++i) {
    forward(i);
    backward(i - warm_up);
  }
  for (int i = m - warm_up; i < m; ++i) backward(i);
  down.wait();
  up.wait();
  // The table is used twice, and so its gradient is a sum of two. Each of its copies gets all of it.
  if (p == 1) {
    View of_embedding = state.grads[first].part(model.tied(first));
    View of_head = state.grads[end - 1].part(model.tied(end - 1));
    add(of_embedding, of_head);
    copy(of_head, of_embedding);
  } else if (ends) {
    const int l = stage.is_first() ? first : end - 1;
    ends.all_reduce(state.grads[l].part(model.tied(l)), ReduceOp::sum);
  }
  // ZeRO-1 over the replicas. The norm is that of the whole gradient: each number of it once.
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = first; l < end; ++l) {
    const Range mine = dp.mine(model.size(l));
    dp.reduce_scatter(state.grads[l], state.grads[l].part(mine), ReduceOp::sum);
    for (const Range& owned : model.owned(l)) {
      const Range counted = intersect(owned, mine);
      if (counted.size() > 0) add_squares(squares, state.grads[l].part(counted));
    }
  }
  rank.world().all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  for (int l = first; l < end; ++l) {
    const Range mine = dp.mine(model.size(l));
    model.update(l, state.weights[l].part(mine), state.grads[l].part(mine), state.optimizer[l], factor);
    dp.all_gather(state.weights[l].part(mine), state.weights[l]);
  }
  // <<<
}

// What it costs: of P weights a rank has P/(t p), 8 bytes for each with its gradient, and 8/d more for its moments. The
// wire is busy in layers: tensor parallelism sends most, 8 (t-1)/t activations for each block and micro-batch, and so
// it stays inside a node; the replicas send 2 (d-1)/d of the rank's weights, once; the pipeline one activation and one
// gradient for each boundary and micro-batch; the two ends the table; all of them one number.
//
// What production does differently: Megatron-LM has the same groups (its embedding group is `ends`), reduces the
// gradients of replicas in buckets during the last backward, and gathers the weights during the next forward. It marks
// each parameter as `tensor_model_parallel` and `shared` for its norm, which is what owned() says here. The order of
// axes is a choice of its own: "tp-cp-ep-dp-pp", innermost first.
