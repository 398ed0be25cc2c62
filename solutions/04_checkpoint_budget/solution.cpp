// Puzzle 04: which layers to compute again, under a budget of memory.
//
// Layers differ in what they save and in what recomputing them costs. Find the cheapest choice that fits, and train
// with it. The lesson is README.md beside this file; `./shardlings explain 04` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

using namespace shardlings;

/// One training step, with L = model.num_layers() layers of unequal size, in `budget` bytes of activations.
///
/// state.weights[l]    (model.size(l))  weights of layer l, flat; updated behind the hole
/// state.grads[l]      (model.size(l))  zeros; backward adds to them. Leave the gradient there
/// batch.inputs        (s, b, h)        the input of layer 0; a GPT has token ids (s, b) instead
/// batch.targets       (s, b)           a negative target is padding: it counts for nothing
/// loss                (1)              is 0 before; model.loss adds the loss to it
/// budget                               bytes that the step may have in memory at once beside what is there already
///
/// Result     weights, gradients and loss, exactly as if everything had been kept
/// Plan       every x[l] is kept on the device until layer l has run backward, x[0] too: a copy, yours to make. What
///            layer l saves is either kept there from the first forward pass, or left out and made again by a second
///            forward right before the layer's backward. The host's memory is not used
/// Memory     never more than `budget`
/// Recompute  the floating-point operations of all second forwards together: at most those of giving up one layer after
///            another, in the order of operations for each byte of saved[l], until the plan fits. Of layers that are
///            equal in that any may go first
/// Bonus      as few of them as any plan that fits has, or fewer
///
/// model.cost(l, s, b) tells, for tensors of f32, the bytes of x[l] (input) and of saved[l] (saved), the most that a
/// backward holds at once (backward), and the operations of one forward (flops). backward counts the gradient that goes
/// in, saved[l], kept or made again, and the gradient that comes out; but neither x[l] nor weights.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, Count budget, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, width of l), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  std::vector<bool> again(layers);    // the plan: true for layers that run forward a second time
  const Count s = batch.inputs.shape()[0], b = batch.inputs.shape()[1];

  // >>> your code (about 36 lines)
  // For every number of bytes that can be kept below layer l: the fewest operations, and the plan that has them.
  struct Choice {
    Count flops = 0;
    std::vector<bool> again;
  };
  std::map<Count, Choice> choices = {{0, {}}};
  Count inputs = 0;
  for (int l = 0; l < layers; ++l) {
    const LayerCost cost = model.cost(l, s, b);
    inputs += cost.input;
    std::map<Count, Choice> next;
    const auto consider = [&](Count kept, Choice choice, bool second) {
      if (second) choice.flops += cost.flops;
      choice.again.push_back(second);
      const auto [at, is_new] = next.try_emplace(kept, choice);
      if (!is_new && choice.flops < at->second.flops) at->second = choice;
    };
    for (const auto& [kept, choice] : choices) {
      if (inputs + kept + cost.backward > budget) continue;  // kept or made again, backward holds the Saved
      consider(kept + cost.saved, choice, false);
      consider(kept, choice, true);
    }
    choices = std::move(next);
  }
  const auto cheaper = [](const auto& a, const auto& c) { return a.second.flops < c.second.flops; };
  again = std::min_element(choices.begin(), choices.end(), cheaper)->second.again;

  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], again[l] ? nullptr : &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    if (again[l]) model.forward(l, state.weights[l], x[l], &saved[l]);  // the output itself is dropped at once
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
  }
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}

// What it costs: the second forwards, and nothing else. The plan itself takes (layers x different sums of bytes) steps,
// once per training; a real planner rounds bytes to some thousand units, so that L = 100 layers take milliseconds.
//
// What production does differently: PyTorch's compiler solves this very knapsack problem for single operations inside a
// graph (torch._functorch.config.activation_memory_budget, between 0 and 1), with the same choice of dynamic
// programming or greedy solvers. Megatron-LM chooses by hand: --recompute-method block recomputes the first n layers,
// uniform all of them in groups, and selective recomputation leaves only the attention's inner part out, which is large
// and cheap (Korthikanti et al. 2022). Pipelines need another plan for each stage, since early stages hold more
// micro-batches.
