// Puzzle 40: Muon on N ranks. Each matrix is orthogonalized on one of them.
//
// An optimizer that needs whole matrices cannot be divided as ZeRO divides Adam: the matrices are dealt to the ranks.
// The lesson is README.md beside this file; `./shardlings explain 40` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

using namespace shardlings;

/// One step of Muon on the N ranks of rank.world(), for matrices of any shape. With m = 0 before the first step:
///
///   g = mean of the ranks' gradients     m = beta m + g     w = w - lr orthogonalized(m)
///
/// state.weights[i]      (rows, cols)  the same on every rank, before and after the step
/// state.grads[i]        (rows, cols)  of this rank's tokens; yours to change
/// state.optimizer[i].m  empty         yours: what you leave there you find again in the next step
/// owner[i]                            the rank that orthogonalizes matrix i, as `deal` has said; the same on all ranks
///
/// Result  the weights on every rank as one rank would have them that sees all gradients
/// Wire    all ranks together send at most what an all-reduce of each gradient takes, by two calls for each matrix
/// Memory  momentum for a matrix on its owner alone. At work, beside weights, gradients and momentum, at most two
///         tensors like the largest matrix and two squares of its smaller side. Nothing lies on the host
/// Work    each matrix is orthogonalized once, on one rank: in each of the five rounds by three products: A, the
///         smaller one of x xᵀ and xᵀ x; A times A; and the sum of both, each with its factor, times x (or x times it).
///         The busiest rank has at most 4/3 of the operations that it would have in the best deal there is. `deal` is
///         also asked about 24 other lists of matrices, for 2 to 4 ranks
/// Time    at most that of all reductions, of the busiest rank's work, and of all broadcasts, and 3 % more: the ranks
///         work at the same time

/// x / (its Frobenius norm), where it lies: x (rows, cols). Nothing reads the norm on the host.
void normalize(Rank& rank, View x) {
  constexpr float tiny = 1e-7F;
  Tensor squares = rank.zeros(1, Kind::other);
  add_squares(squares, x);
  scale_by(x, clip_factor(squares, tiny));  // tiny / norm
  scale(x, 1 / tiny);
}

// >>> your code (about 48 lines)
/// The owner of each matrix, from its shape: 0 to ranks-1. All ranks ask, and must get the same answer.
std::vector<int> deal(const std::vector<Shape>& shapes, int ranks) {
  const auto cost = [&](int i) {
    const auto small = static_cast<double>(std::min(shapes[i].rows(), shapes[i].cols()));
    const auto large = static_cast<double>(std::max(shapes[i].rows(), shapes[i].cols()));
    return small * small * (4 * large + 2 * small);  // of one round: two products with x, one of two squares
  };
  std::vector<int> order(shapes.size()), owner(shapes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cost(a) > cost(b); });
  // The costliest first, while all ranks can still take it; the cheap ones fill what is left.
  std::vector<double> load(ranks);
  for (const int i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += cost(i);
    owner[i] = static_cast<int>(least - load.begin());
  }
  return owner;
}

/// Five times x = 3.4445 x - 4.7750 (x xᵀ) x + 2.0315 (x xᵀ)² x, beginning with the normalized m. m stays as it is.
Tensor orthogonalized(Rank& rank, ConstView m) {
  const bool wide = m.rows() <= m.cols();
  Tensor x = clone(m);
  normalize(rank, x);
  for (int i = 0; i < 5; ++i) {
    const Tensor square = matmul(x, x, wide ? nt : tn);  // of the smaller side
    Tensor factor = matmul(square, square, nn);
    scale(factor, 2.0315F);
    axpy(factor, -4.7750F, square);
    Tensor next = wide ? matmul(factor, x, nn) : matmul(x, factor, nn);
    axpy(next, 3.4445F, x);
    x = std::move(next);
  }
  return x;
}

void muon_step(Rank& rank, const std::vector<int>& owner, TrainState& state, float lr, float beta) {
  Group world = rank.world();
  const int matrices = static_cast<int>(owner.size());
  std::vector<Work> reduced(matrices), sent(matrices);
  for (int i = 0; i < matrices; ++i) reduced[i] = world.reduce_async(state.grads[i], ReduceOp::mean, owner[i]);
  for (int i = 0; i < matrices; ++i) {
    if (owner[i] == rank.id()) {
      Tensor& m = state.optimizer[i].m;
      if (!m) m = rank.zeros(state.grads[i].shape(), Kind::optimizer);
      reduced[i].wait();
      scale(m, beta);
      add(m, state.grads[i]);
      axpy(state.weights[i], -lr, orthogonalized(rank, m));
    }
    // Nobody waits here: the next matrix may be this rank's own, and somebody else is still at work on this one.
    sent[i] = world.broadcast_async(state.weights[i], owner[i]);
  }
  for (int i = 0; i < matrices; ++i) {
    reduced[i].wait();
    sent[i].wait();
  }
}
// <<<

// What it costs: the bytes of an all-reduce, since a reduction and a broadcast of S bytes are as much as its two
// halves; momentum once on all ranks together; and an N-th of the operations, as near as whole matrices can be dealt.
//
// What production does differently: the first implementation dealt matrices of equal shape in turn and gathered them in
// groups of N, one from each rank. Moonlight gathers each gradient's shards where ZeRO has put them, and Megatron-LM's
// layer-wise optimizer deals whole layers. Dion avoids the whole matrix: it orthogonalizes a low-rank factor of it.
