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
  return by_staleness ? lr / static_cast<float>(std::max(1, staleness)) : lr;
}

std::vector<int> serve(Rank& rank, int steps, int bound, bool by_staleness, float lr, View weights) {
  Group world = rank.world();
  const int workers = world.size() - 1;
  int version = 0;
  std::vector<int> computed(workers + 1), has(workers + 1);  // by rank: batches; the version that it was sent last
  std::vector<Work> sent(workers + 1);
  std::vector<int> waiting, staleness;
  const auto send_weights = [&](int w) {
    sent[w].wait();  // over: its gradient is here
    Tensor copied = clone(weights);
    sent[w] = world.send_async(copied, w).keep(std::move(copied));
    has[w] = version;
  };
  for (int w = 1; w <= workers; ++w) send_weights(w);
  Tensor grad = rank.empty(weights.size(), Kind::gradient);
  while (version < workers * steps) {
    const int w = world.recv_any(grad);
    staleness.push_back(version - has[w]);
    axpy(weights, -rate(lr, staleness.back(), by_staleness), grad);
    ++version;
    ++computed[w];
    if (computed[w] < steps) waiting.push_back(w);
    const int least = *std::min_element(computed.begin() + 1, computed.end());
    const auto may_go = [&](int each) { return bound < 0 || computed[each] - least <= bound; };
    for (const int each : waiting) {
      if (may_go(each)) send_weights(each);
    }
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), may_go), waiting.end());
  }
  for (Work& each : sent) each.wait();
  return staleness;
}

void work(Rank& rank, int steps, int slowness, float curvature, ConstView target) {
  Group world = rank.world();
  for (int i = 0; i < steps; ++i) {
    Tensor weights = rank.empty(target.size(), Kind::parameter);
    world.recv(weights, 0);
    world.send(gradient(weights, target, curvature, slowness), 0);
  }
}
// <<<

// What it costs: no waiting, and the same bytes as on a parameter server in steps. A gradient is N-1 updates old, and
// the rate at which training still converges falls like 1/N.
//
// What production does differently: servers hold parts of the weights, so a worker may even compute with parts of
// different versions; bounds are kept by clocks that servers tell one another; and asynchronous reinforcement learning
// bounds the age of samples in the same way.
