// Puzzle 30: a server that updates the weights as gradients come, and knows how old each of them is.
//
// Nobody waits for a step to end. What that costs is staleness: a gradient belongs to weights that are gone. The lesson
// is README.md beside this file; `./shardlings explain 30` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace shardlings;

/// Rank 0 of rank.world() is the server and has the weights, (n). Ranks 1 to N are workers; each of them computes the
/// gradients of `steps` batches, one after another.
///
/// Version    of the weights: how many updates have been made; 0 at first
/// Staleness  of a gradient: the version when it is applied, minus the version that its worker had computed it with
///
/// serve   sends each worker weights for each of its batches, the first of them version 0, and applies each gradient as
///         soon as it has come: weights = weights - rate(…) g. Returns the staleness of each of the N steps gradients,
///         in the order in which they were applied
/// bound   with bound >= 0 a worker that has computed k batches gets weights for its next one only when every worker
///         has computed at least k - bound batches. Until then it waits; from then on it does not. bound < 0: no
///         worker waits
/// rate    the learning rate of a gradient: lr / max(1, staleness) if by_staleness, else lr
///
/// Result  the weights after all gradients, as the order in which they came makes them, and all numbers of serve
/// Bound   no worker gets weights while it is more than `bound` batches ahead of the slowest; only such a one waits
/// Wire    the weights once for each batch of each worker, its gradient once back, by messages only
/// Time    a worker takes no longer than its own batches, the messages of all, and what the bound makes it wait
/// Memory  server: the weights, a gradient, and for each worker one copy of the weights on its way. Worker: weights and
///         three times as much. Nothing lies on the host

/// Of a batch: curvature (weights - target). It takes time: a slow worker's takes `slowness` times as long.
Tensor gradient(ConstView weights, ConstView target, float curvature, int slowness) {
  constexpr int pieces = 40;
  Tensor g = clone(weights);
  axpy(g, -1, target);
  for (int i = 1; i < pieces * slowness; ++i) scale(g, 1);
  scale(g, curvature);
  return g;
}

// >>> your code (about 40 lines)
float rate(float lr, int staleness, bool by_staleness) {
  not_implemented();
}

std::vector<int> serve(Rank& rank, int steps, int bound, bool by_staleness, float lr, View weights) {
  not_implemented();
}

void work(Rank& rank, int steps, int slowness, float curvature, ConstView target) {
  not_implemented();
}
// <<<
