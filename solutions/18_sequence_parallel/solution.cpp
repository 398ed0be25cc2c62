// Puzzle 18: sequence parallelism. What tensor parallelism leaves whole is divided along the sequence.
//
// Layer norm and residual work on this rank's positions only; the products between them on all positions, as before.
// The lesson is README.md beside this file; `./shardlings explain 18` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// y = x + down(gelu(up(norm(x)))), with h inputs and outputs and f in the middle, on the t ranks of tp = rank.world().
///
/// x, y, grad_x, grad_y  (s/t, b, h)          your positions: positions are the first extent, so they lie together
/// norm.weight, bias     (h)                  the same on all ranks; so is down.bias (h)
/// up.weight             (f/t, h)             your outputs; up.bias (f/t)
/// down.weight           (h, f/t)             your inputs
/// kept                                       yours, one for each micro-batch: what mlp_forward leaves in it,
///                                            mlp_backward finds again; it is freed afterwards
///
/// The judge calls mlp_forward for each of m micro-batches, then mlp_backward for each, in the same order, and
/// finish_step once. Gradients of weights are zero before the first of them, and micro-batches add to them.
///
/// Result  y and grad_x of your positions, and gradients as on one device on all positions of all micro-batches: of up
///         and down those of your parts, of norm and down.bias the whole, on every rank
/// Wire    for each micro-batch at most the all-gathers and the reduce-scatters of (s, b, h) that the lesson's section
///         "The idea" needs, and once in all an all-reduce of (h) for each gradient that is not complete; each by one
///         call
/// Memory  at most, kept for a micro-batch: one (s/t, b, h) and its statistics, two (s, b, f/t). At work one whole
///         (s, b, h) at a time, and beside it two like (s, b, f/t), or one of them and one (s/t, b, h).
///         Nothing lies on the host
///
/// Calls that you need beside those of puzzle 16: rank.empty(shape, Kind::buffer); tp.all_gather(part, whole);
/// tp.reduce_scatter(whole, part, ReduceOp::sum); layer_norm(x, weight, bias, &stats);
/// layer_norm_backward(x, weight, stats, grad, grad_weight, grad_bias), which adds to the last two; add(y, x): y += x.

// >>> your code (about 40 lines)
/// Returns y.
Tensor mlp_forward(Rank& rank, const Linear& norm, const Linear& up, const Linear& down, ConstView x,
                   std::vector<Tensor>& kept) {
  Group& tp = rank.world();
  Tensor stats, normed = layer_norm(x, norm.weight, norm.bias, &stats);
  Tensor whole = rank.empty({x.shape()[0] * tp.size(), x.shape()[1], x.shape()[2]}, Kind::buffer);
  tp.all_gather(normed, whole);
  Tensor z = matmul(whole, up.weight, nt);
  whole = {};  // backward gathers it again: keeping it would cost t times as much
  add_bias(z, up.bias);
  Tensor a = gelu(z);
  Tensor terms = matmul(a, down.weight, nt);
  Tensor y = rank.empty(x.shape(), Kind::activation);
  tp.reduce_scatter(terms, y, ReduceOp::sum);
  add_bias(y, down.bias);
  add(y, x);
  for (Tensor* tensor : {&normed, &stats, &z, &a}) kept.push_back(std::move(*tensor));
  return y;
}

/// Returns grad_x.
Tensor mlp_backward(Rank& rank, const Linear& norm, const Linear& up, const Linear& down, ConstView x,
                    std::vector<Tensor>& kept, ConstView grad_y) {
  Group& tp = rank.world();
  const Shape all = {x.shape()[0] * tp.size(), x.shape()[1], x.shape()[2]};
  sum_rows_add(down.grad_bias, grad_y);  // of my positions: a summand, until finish_step
  Tensor whole = rank.empty(all, Kind::buffer);
  tp.all_gather(grad_y, whole);
  matmul_add(down.grad_weight, whole, kept[3], tn);
  Tensor grad_z = gelu_backward(kept[2], matmul(whole, down.weight, nn));
  sum_rows_add(up.grad_bias, grad_z);  // of all positions: complete
  whole = {};
  whole = rank.empty(all, Kind::buffer);
  tp.all_gather(kept[0], whole);
  matmul_add(up.grad_weight, grad_z, whole, tn);
  whole = {};
  Tensor terms = matmul(grad_z, up.weight, nn);
  Tensor grad_normed = rank.empty(x.shape(), Kind::activation);
  tp.reduce_scatter(terms, grad_normed, ReduceOp::sum);
  terms = {};
  Tensor grad_x = layer_norm_backward(x, norm.weight, kept[1], grad_normed, norm.grad_weight, norm.grad_bias);
  add(grad_x, grad_y);
  return grad_x;
}

/// Called once, when all micro-batches have run backward.
void finish_step(Rank& rank, const Linear& norm, const Linear& up, const Linear& down) {
  // What every rank has whole, but has used on its own positions only.
  for (const View& grad : {norm.grad_weight, norm.grad_bias, down.grad_bias}) {
    rank.world().all_reduce(grad, ReduceOp::sum);
  }
}
// <<<

// What it costs: an all-gather and a reduce-scatter send as much as one all-reduce, so forward is as expensive as in
// puzzle 16. Backward gathers once more, (t-1)/t s b h elements, so that only a t-th of the norm's output has to be
// kept. Now all that is kept shrinks with t. At work there is still one whole (s, b, h) at a time.
//
// What production does differently: Megatron-LM starts the second gather before it computes grad_x's terms, and hides
// it there. It marks weights as sequence_parallel and sums their gradients after the backward pass of all
// micro-batches, in one flat all-reduce. Dropout behind `down` needs other random numbers on each rank, since positions
// differ.
