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
  not_implemented();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
