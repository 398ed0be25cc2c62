// Puzzle 35: checkpoints and lost ranks.
//
// Training that goes on when ranks die: with fewer of them, with spare ones, or from the store. The lesson is
// README.md beside this file; `./shardlings explain 35` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace shardlings;

/// What a run goes by, the same on all ranks.
struct ElasticPlan {
  Count steps = 0;     // T: updates of the whole run
  Count batch = 0;     // B: micro-batches of a step, of all ranks that train together
  Count every = 1;     // k: the states after k, 2k, 3k, ... updates are saved
  Count replicas = 1;  // R: the first R of the ranks that live train, in their order; the others are spare
};
/// What this rank computes gradients with. What is given here stands in harness.cpp.
struct Worker;
/// Adds the gradient of micro-batch i, 0 to B-1, of step `step`, 0 to T-1, to state.grads: that of its own mean loss.
/// Any rank can compute any of them. Sends nothing.
void add_gradient(Worker& worker, Count step, Count i, Location at = Location::current());
/// All tensors that are needed to go on: weights, and both moments where there are any, always in the same order. One
/// number belongs to them: how many updates they have been through, which is also each state.optimizer[l].step.
std::vector<View> tensors_of(TrainState& state);
/// Part r of n elements that are divided over so many ranks: what Group::part says for a group of that size.
Range part_among(Count ranks, Count n, Count r);

/// A step divides the sum of its B gradients by B. All ranks that train hold the whole state.
///
/// steps_between_saves  k for a run of which a rank dies once in `mean` seconds on average, where each save holds the
///                      training up for `save` seconds and a step takes `step`. At least 1
/// load   makes the state on all ranks of `active` that of the newest checkpoint of rank.store(), and returns how many
///        updates it has been through; 0 where there is none, and nothing has changed. That checkpoint may be of any
///        number of ranks. Each byte of its tensors is read by one rank, and gets to the others from there: each reads
///        its Group::part
/// train  the whole run, on every rank of rank.world(), which are R or more. The state is that of the beginning. All
///        ranks that live return together, spare ones too: after one and the same call of survivors()
///
/// Result  the ranks that train at the end have weights and moments after T updates as one device would have them
/// Deaths  any rank may die at any time. The next spare one takes its place; if there is none, the others go on
/// Peers   a rank without the state gets it from ONE rank that has it, and from the store only if nobody has it
/// Work    a death costs the step that it interrupts, and no update; the death of all that train, what the newest
///         checkpoint does not have
/// Saves   a checkpoint after k, 2k, ... updates is whole before the next update, whoever dies, and the one before
///         it is there until then. Of each tensor a rank writes its Group::part, and nobody else does; beside them four
///         numbers at most
/// Time    the parts are written while the gradients of the next step are computed. A rank asks the store at most once
///         in a step, and three times more at the beginning, at the end and after each death
/// Memory  nothing beside what is given, neither on the device nor on the host
///
/// Calls that you need: rank.survivors(n) has a group, and said[i], the n of its rank i; all_reduce_async, all_gather,
/// send, recv, barrier, split(color, 0); fill, scale, model.update; catch PeerFailed. rank.store() has
/// write_async(folder, item, view), read(folder, item, first, view), write_number, read_number (kNoItem: there is
/// none), publish(folder, as). Items are {"updates"} or {"tensor", i, r}, and folders have names like "newest".

// >>> your code (about 84 lines)
Count steps_between_saves(double save, double step, double mean) {
  not_implemented();
}

Count load(Rank& rank, Group& active, TrainState& state) {
  not_implemented();
}

void train(Rank& rank, const Model& model, const ElasticPlan& plan, TrainState& state, Worker& worker) {
  not_implemented();
}
// <<<
