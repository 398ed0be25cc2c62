// Puzzle 03: keep few activations, compute the others again.
//
// Every k-th layer's input survives the forward pass; the backward pass recomputes what lies between, segment by
// segment. The lesson is README.md beside this file; `./shardlings explain 03` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// One training step that keeps x[0], x[k], x[2k], ... only, with L = model.num_layers() layers and k = every >= 1.
/// A segment is the layers [j k, (j + 1) k); the last one may be shorter. k may be larger than L, and L + k fits into
/// an int.
///
/// state.weights[l]    (model.size(l))  weights of layer l, flat; updated behind the hole
/// state.grads[l]      (model.size(l))  zeros; backward adds to them. Leave the gradient there
/// batch.inputs        (s, b, h)        the input of layer 0; a GPT has token ids (s, b) instead
/// batch.targets       (s, b)           a negative target is padding: it counts for nothing
/// loss                (1)              is 0 before; model.loss adds the loss to it
///
/// Result  weights, gradients and loss, exactly as without checkpoints
/// Calls   forward no more often than these segments make necessary: a layer runs forward a second time only if its
///         activations had to go; backward once for each layer
/// Memory  beside what is given, at the peak: one input for each segment whose backward is not over, and the
///         activations of ONE segment. Less is welcome. The host's memory is not used
///
/// model.forward(l, weights, x, nullptr) saves nothing.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, int every, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 17 lines)
  const int last = (layers - 1) / every * every;  // first layer of the last segment, also where k divides L
  for (int l = 0; l < layers; ++l) {
    // The last segment runs backward first, right now: throwing it away would only mean to compute it again.
    x[l + 1] = model.forward(l, state.weights[l], x[l], l < last ? nullptr : &saved[l]);
    if (l < last && l % every != 0) x[l] = {};
  }
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int begin = last; begin >= 0; begin -= every) {
    const int end = std::min(begin + every, layers);
    if (begin < last) {
      for (int l = begin; l < end; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    }
    x[end] = {};  // the next segment's input: it was wanted for the sake of saved[end - 1] only
    for (int l = end - 1; l >= begin; --l) {
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
      x[l] = {};
    }
  }
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}

// What it costs: L - (length of the last segment) forward calls more, a third of a step at most when B = 2 F. What is
// gained: ceil(L / k) inputs and k layers in full, instead of L layers; smallest for a k of the order of sqrt(L).
//
// What production does differently: torch.utils.checkpoint_sequential is this puzzle: the last segment does not run again there either. Training
// of transformers usually takes one block for a segment ("full" recompute in Megatron-LM), which makes the code simpler
// and the kept inputs many but small. Selective recompute (Korthikanti et al. 2022) goes inside the block: it keeps
// what is dear to compute and small, and recomputes only the inner part of attention. Dropout needs the random
// generator's state of the first pass, or the second pass computes another function.
