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
  not_implemented();
}

/// Returns grad_x.
Tensor mlp_backward(Rank& rank, const Linear& norm, const Linear& up, const Linear& down, ConstView x,
                    std::vector<Tensor>& kept, ConstView grad_y) {
  not_implemented();
}

/// Called once, when all micro-batches have run backward.
void finish_step(Rank& rank, const Linear& norm, const Linear& up, const Linear& down) {
  not_implemented();
}
// <<<
