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
  not_implemented();
}

/// Five times x = 3.4445 x - 4.7750 (x xᵀ) x + 2.0315 (x xᵀ)² x, beginning with the normalized m. m stays as it is.
Tensor orthogonalized(Rank& rank, ConstView m) {
  not_implemented();
}

void muon_step(Rank& rank, const std::vector<int>& owner, TrainState& state, float lr, float beta) {
  not_implemented();
}
// <<<
