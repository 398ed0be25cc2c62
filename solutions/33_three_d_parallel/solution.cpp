// Puzzle 33: tensor, pipeline and data parallel at once.
//
// One step of a GPT on t x p x d ranks with v chunks of layers each, ZeRO-1 over the d replicas, tied embeddings, and a
// clipped gradient. The lesson is README.md beside this file; `./shardlings explain 33` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// One training step. This rank is rank r of a pipeline of p. It has v of the p v stages (chunks[c] is stage c p + r),
/// of each of their layers a t-th, and batch dp.rank() of d. If v > 1, p is 2 at least and divides the number m of
/// micro-batches.
///
/// share          what this rank has, and with whom: chunks, state and groups, which the first lines unpack
/// model, chunks  layers are divided over the tensor-parallel group, and their calls add up over it by themselves
/// state          weights, grads (zero) and optimizer of the layers l of all chunks: (model.size(l)), a part of the
///                layer; the moments only of dp.mine(model.size(l)) of that. Empty for all other layers
/// down, up       the ranks of this pipeline, twice: a group for activations, and one for gradients
/// dp, ends       the ranks that hold the same weights; the first and the last rank of the pipeline: this rank alone if
///                p = 1, an empty group (false) on ranks in between
/// limit, loss    as in puzzles 11 and 20; every rank that has the last stage adds its batch's share to its loss
///
/// Result  weights and moments as if one device had trained on all d batches; of the gradient, the sum over the
///         replicas in dp.mine(model.size(l)) of state.grads[l], not clipped
/// Memory  in flight min(p - r, m) micro-batches, with v > 1 min(2 (p - r - 1) + (v - 1) p + 1, m v) chunks; weights,
///         gradients, moments of dp.mine, and nothing beside them until backward is over; nothing on the host
/// Wire    dp: reduce-scatter and all-gather of each layer; ends: an all-reduce of the table; world: of one number
/// Time    that of puzzles 20 and 21 on links that cost nothing; nothing runs forward twice
///
/// Calls that you may not know yet: model.tied(l), the Range of layer l that is the table of the embedding: in the
/// first layer of the model and in the last, else empty; model.owned(l), the Ranges of layer l that count here in a
/// norm over all ranks: all but what tensor-parallel rank 0 has as well, and the second table; intersect(a, b), what
/// two Ranges share, which may be nothing: add_squares and update do nothing with an empty part.
void train_step(Rank& rank, const Model& model, const GridShare& share, const Batch& batch, float limit, View loss) {
  const std::vector<Stage>& chunks = share.chunks;
  [[maybe_unused]] TrainState& state = share.state;
  Group down = share.down, up = share.up, dp = share.dp, ends = share.ends;
  const int p = down.size(), r = down.rank(), m = batch.num_micro(), v = static_cast<int>(chunks.size());
  const int next = (r + 1) % p, prev = (r + p - 1) % p;
  std::vector<int> layers;  // of all chunks, in ascending order
  for (const Stage& chunk : chunks) {
    for (Count l = chunk.layers().begin; l < chunk.layers().end; ++l) layers.push_back(static_cast<int>(l));
  }
  std::vector<Tensor> x(m * v), logits(m);
  std::vector<StageSaved> saved(m * v);
  Work sent_down, sent_up;
  const auto forward = [&](int i, int c) {  // micro-batch i, chunk c: receives its input, computes, sends its output on
    Tensor& in = x[i * v + c];
    in = chunks[c].is_first() ? clone(batch.micro(i).inputs) : rank.empty(chunks[c].input_shape(), Kind::activation);
    if (!chunks[c].is_first()) down.recv(in, prev);
    Tensor y = chunks[c].forward(in, &saved[i * v + c]);
    if (chunks[c].is_last()) {
      logits[i] = std::move(y);
    } else {
      sent_down.wait();
      sent_down = down.send_async(y, next).keep(std::move(y));
    }
  };
  const auto backward = [&](int i, int c) {  // receives its gradient, computes, sends that of its input back
    const bool is_last = chunks[c].is_last();
    Tensor grad = is_last ? model.loss(std::move(logits[i]), batch.micro(i).targets, batch.tokens_of_step(), loss)
                          : rank.empty(chunks[c].output_shape(), Kind::activation);
    if (!is_last) up.recv(grad, next);
    grad = chunks[c].backward(x[i * v + c], std::move(saved[i * v + c]), std::move(grad));
    x[i * v + c] = {};
    if (chunks[c].is_first()) return;
    sent_up.wait();
    sent_up = up.send_async(grad, prev).keep(std::move(grad));
  };

  // >>> your code (about 40 lines)
  // 1F1B: p micro-batches go through one chunk, then the same through the next one. With one chunk that is their order.
  const auto micro = [&](int k) { return k / (p * v) * p + k % p; };
  const auto chunk = [&](int k) { return k / p % v; };
  const int all = m * v, after = p - r - 1;
  const int warm_up = std::min(v == 1 ? after : 2 * after + (v - 1) * p, all);
  for (int k = 0; k < all + warm_up; ++k) {
    if (k < all) forward(micro(k), chunk(k));
    if (k >= warm_up) backward(micro(k - warm_up), v - 1 - chunk(k - warm_up));
  }
  sent_down.wait();
  sent_up.wait();
  // The table is used twice, and so its gradient is a sum of two. Each of its copies gets all of it.
  const int first = layers.front(), last = layers.back();
  if (p == 1) {
    View of_embedding = state.grads[first].part(model.tied(first));
    View of_head = state.grads[last].part(model.tied(last));
    add(of_embedding, of_head);
    copy(of_head, of_embedding);
  } else if (ends) {
    const int l = r == 0 ? first : last;
    ends.all_reduce(state.grads[l].part(model.tied(l)), ReduceOp::sum);
  }
  // ZeRO-1 over the replicas. The norm is that of the whole gradient: each number of it once.
  Tensor squares = rank.zeros(1, Kind::other);
  for (const int l : layers) {
    const Range mine = dp.mine(model.size(l));
    dp.reduce_scatter(state.grads[l], state.grads[l].part(mine), ReduceOp::sum);
    for (const Range& owned : model.owned(l)) {
      const Range counted = intersect(owned, mine);
      if (counted.size() > 0) add_squares(squares, state.grads[l].part(counted));
    }
  }
  rank.world().all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  for (const int l : layers) {
    const Range mine = dp.mine(model.size(l));
    model.update(l, state.weights[l].part(mine), state.grads[l].part(mine), state.optimizer[l], factor);
    dp.all_gather(state.weights[l].part(mine), state.weights[l]);
  }
  // <<<
}

// What it costs: of P weights a rank has P/(t p), 8 bytes for each with its gradient, and 8/d more for its moments. The
// wire is busy in layers: tensor parallelism sends most, 8 (t-1)/t activations for each block and micro-batch, and so
// it stays inside a node; the replicas send 2 (d-1)/d of the rank's weights, once; the pipeline v activations and v
// gradients for each rank and micro-batch; the two ends the table; all of them one number.
//
// What production does differently: Megatron-LM has the same groups (its embedding group is `ends`), reduces the
// gradients of replicas in buckets during the last backward, and gathers the weights during the next forward. It marks
// each parameter as `tensor_model_parallel` and `shared` for its norm, which is what owned() says here. Its pipeline is
// of one group, since it sends and receives in batches; chunks are `virtual_pipeline_model_parallel_size`. The order of
// axes is a choice of its own: "tp-cp-ep-dp-pp", innermost first.
