// Puzzle 31: DiLoCo. Workers that train for themselves, and meet once in H steps.
//
// Each rank is a worker: a machine room of its own, with a slow line to the others. The lesson is README.md beside this
// file; `./shardlings explain 31` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <numeric>
#include <vector>

using namespace shardlings;

/// What this worker trains with.
struct Worker;
/// One inner step: the gradient of the worker's next data, and an update of state.weights by its own optimizer, whose
/// moments are in state.optimizer. It is given (it is in harness.cpp), and sends nothing.
void inner_step(Worker& worker, Location at = Location::current());

/// Trains for plan.steps inner steps on N = rank.size() workers. Round j (0, 1, ...) is that of fragment j mod P, and
/// ends after inner step (j + 1) H/P. Rounds that would end after the last step do not begin.
///
/// plan.every          H, of which P = plan.fragments.size() is a divisor
/// plan.fragments[p]   the layers of fragment p, first and one past the last
/// plan.tokens[j][k]   n_k: tokens that worker k trained on for its difference of round j; 0 where it was lost
/// plan.overlap        tau, less than H/P; plan.mix is alpha; plan.lr and plan.momentum are those of the outer step
/// state.weights[l]    (size(l))  equal on all workers at the beginning
///
/// With an anchor of each fragment, which begins as its weights, and m = 0:
///
///   tau steps before the end   difference = anchor - weights, of this worker
///   at the end of the round    d = sum over k of n_k / n * difference of worker k, n = sum of all n_k
///                              m = momentum m + d
///                              anchor = anchor - lr (d + momentum m)
///                              weights = alpha weights + (1 - alpha) anchor
///
/// Result  the weights of each worker are those of this rule, in numbers that are exact bit for bit
/// State   each worker's moments are its own, from the first step to the last
/// Wire    in a round an all-reduce of its fragment, and nothing else; never more between two inner steps
/// Time    a sum travels while the tau steps run, and the program waits for what is left of it at the round's end
/// Memory  beside what is given: anchors, m, and one fragment's differences; nothing on the host
///
/// Calls that you need: clone, rank.zeros, scale, add, axpy; world.all_reduce_async(view, ReduceOp::sum); work.wait().
void diloco(Rank& rank, const OuterPlan& plan, TrainState& state, Worker& worker) {
  Group& world = rank.world();
  const int layers = static_cast<int>(state.weights.size());
  const int interval = plan.every / static_cast<int>(plan.fragments.size());

  // >>> your code (about 34 lines)
  not_implemented();
  // <<<
}
