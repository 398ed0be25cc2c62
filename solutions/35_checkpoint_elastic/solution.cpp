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
  return std::max<Count>(1, std::llround(std::sqrt(2 * save * mean) / step));
}

Count load(Rank& rank, Group& active, TrainState& state) {
  Store store = rank.store();
  const Count updates = store.read_number("newest", {"updates"}), parts = store.read_number("newest", {"parts"});
  if (updates == kNoItem) return 0;
  const std::vector<View> tensors = tensors_of(state);
  for (int i = 0; i < static_cast<int>(tensors.size()); ++i) {
    const Count n = tensors[i].size();
    const Range mine = active.mine(n);
    for (int r = 0; r < parts; ++r) {
      const Range part = part_among(parts, n, r), both = intersect(part, mine);
      if (both.size() > 0) store.read("newest", {"tensor", i, r}, both.begin - part.begin, tensors[i].part(both));
    }
    active.all_gather(tensors[i].part(mine), tensors[i]);
  }
  for (OptimizerState& of : state.optimizer) of.step = static_cast<int>(updates);
  return updates;
}

/// Ranks of `active` that have said less than others get the state of the first one that has said most.
Count heal(Group& active, const std::vector<Count>& said, TrainState& state) {
  const auto most = std::max_element(said.begin(), said.end());
  const int from = static_cast<int>(most - said.begin());
  for (int to = 0; to < active.size(); ++to) {
    for (const View tensor : tensors_of(state)) {
      if (said[to] < *most && active.rank() == from) active.send(tensor, to);
      if (said[to] < *most && active.rank() == to) active.recv(tensor, from);
    }
  }
  for (OptimizerState& of : state.optimizer) of.step = static_cast<int>(*most);
  return *most;
}

std::vector<Work> start_save(Rank& rank, const Group& active, TrainState& state) {
  Store store = rank.store();
  std::vector<Work> writes;
  const std::vector<View> tensors = tensors_of(state);
  for (int i = 0; i < static_cast<int>(tensors.size()); ++i) {
    const View mine = tensors[i].part(active.mine(tensors[i].size()));
    writes.push_back(store.write_async("unfinished", {"tensor", i, active.rank()}, mine));
  }
  return writes;
}

void finish_save(Rank& rank, Group& active, std::vector<Work>& writes, Count updates) {
  for (Work& write : writes) write.wait();
  active.barrier();  // the parts of all ranks are there
  if (active.rank() > 0) return;
  Store store = rank.store();
  store.write_number("unfinished", {"updates"}, updates);
  store.write_number("unfinished", {"parts"}, active.size());
  store.publish("unfinished", "newest");
}

/// The step that comes after so many updates, but for the update.
void add_gradients(const Group& active, const ElasticPlan& plan, TrainState& state, Worker& worker, Count updates) {
  for (Tensor& grad : state.grads) fill(grad, 0);
  const Range mine = active.mine(plan.batch);
  for (Count i = mine.begin; i < mine.end; ++i) add_gradient(worker, updates, i);
}

void update(const Model& model, Group& active, const ElasticPlan& plan, TrainState& state) {
  std::vector<Work> sums;
  for (Tensor& grad : state.grads) sums.push_back(active.all_reduce_async(grad, ReduceOp::sum));
  // No layer before the sums of all are there: whoever dies until then, the step can be made again from its beginning.
  for (Work& sum : sums) sum.wait();
  for (int l = 0; l < model.num_layers(); ++l) {
    scale(state.grads[l], 1.F / static_cast<float>(plan.batch));
    model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
  }
}

void train(Rank& rank, const Model& model, const ElasticPlan& plan, TrainState& state, Worker& worker) {
  const Count last = plan.steps / plan.every * plan.every;  // of the last checkpoint
  Count updates = 0;                                        // that this rank's state has been through
  for (;;) {
    Survivors now = rank.survivors(updates);
    const Count saved = std::max<Count>(0, rank.store().read_number("newest", {"updates"}));
    const Count most = *std::max_element(now.said.begin(), now.said.end());
    if (most == plan.steps && saved == last) return;
    try {
      Group active = now.group.split(now.group.rank() < plan.replicas ? 0 : kNobody, 0);
      if (!active) continue;  // spare until somebody dies, or all is done
      if (saved > 0 || most > 0) updates = most > 0 ? heal(active, now.said, state) : load(rank, active, state);
      for (;; ++updates) {
        std::vector<Work> writes;
        const bool due = updates > saved && updates % plan.every == 0;
        if (due) writes = start_save(rank, active, state);
        if (updates < plan.steps) add_gradients(active, plan, state, worker, updates);
        if (due) finish_save(rank, active, writes, updates);
        if (updates == plan.steps) break;
        update(model, active, plan, state);
      }
    } catch (const PeerFailed&) {  // the state is that after `updates`, whatever was under way
    }
  }
}
// <<<

// What it costs: of each checkpoint a rank writes 1/N, behind the gradients of the next step. A death costs one step
// where a replica is left, and up to k more from the store. A rank that takes another one's place receives the state
// once.
//
// What production does differently: torchft agrees in each step on who lives, over a server of its own, and each
// replica is a group of ranks that share a state. PyTorch's distributed checkpoints and Megatron-LM's write from a copy
// in the host's memory, so that the update need not wait. Most clusters start the whole job anew from the store, on
// machines that they keep spare for that.
