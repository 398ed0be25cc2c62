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
  std::vector<Tensor> anchor(layers), m(layers), difference(layers);
  std::vector<Work> summed(layers);
  for (int l = 0; l < layers; ++l) {
    anchor[l] = clone(state.weights[l]);
    m[l] = rank.zeros(anchor[l].shape(), Kind::optimizer);
  }
  const auto fragment_of = [&](int round) { return plan.fragments[round % plan.fragments.size()]; };
  const auto start = [&](int round) {
    const std::vector<Count>& tokens = plan.tokens[round];
    const auto all = static_cast<float>(std::accumulate(tokens.begin(), tokens.end(), Count{0}));
    for (Count l = fragment_of(round).begin; l < fragment_of(round).end; ++l) {
      difference[l] = clone(anchor[l]);
      axpy(difference[l], -1, state.weights[l]);
      scale(difference[l], static_cast<float>(tokens[rank.id()]) / all);
      summed[l] = world.all_reduce_async(difference[l], ReduceOp::sum);
    }
  };
  const auto finish = [&](int round) {
    for (Count l = fragment_of(round).begin; l < fragment_of(round).end; ++l) {
      summed[l].wait();
      scale(m[l], plan.momentum);
      add(m[l], difference[l]);
      // From the anchor, where all workers were together, and not from where this one has come to.
      axpy(anchor[l], -plan.lr, difference[l]);
      axpy(anchor[l], -plan.lr * plan.momentum, m[l]);
      scale(state.weights[l], plan.mix);
      axpy(state.weights[l], 1 - plan.mix, anchor[l]);
      difference[l] = {};
    }
  };
  for (int step = 1; step <= plan.steps; ++step) {
    inner_step(worker);
    const int end = step + plan.overlap;  // of a round whose differences leave now, if one does
    if (end % interval == 0 && end <= plan.steps) start(end / interval - 1);
    if (step % interval == 0) finish(step / interval - 1);
  }
  // <<<
}

// What it costs: the bytes of data parallel training divided by H, anchors and momentum (8 bytes a weight), and hardly
// any time, where a sum has tau steps to travel. What it does not give is the training of one device: workers drift
// apart between two rounds, and where their data differ, they drift to different places.
//
// What production does differently: torchft has this as DiLoCo, with anchors in the host's memory, fragments in turn,
// and a quorum for each round: a worker that takes no part sends zeros, and the sum is divided by those that do. Prime
// Intellect's INTELLECT-1 sent the differences in 8 bits, Streaming DiLoCo in 4.
