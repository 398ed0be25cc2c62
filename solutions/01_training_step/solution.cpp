// Puzzle 01: one training step on one device.
//
// Forward, loss, backward, update, and nothing stays in memory longer than it is needed.
// The lesson is README.md beside this file; `./shardlings explain 01` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step of a model with L = model.num_layers() layers.
///
/// state.weights[l]    (model.size(l))  weights of layer l, flat: old on entry, new on return
/// state.optimizer[l]                   what model.update keeps of layer l from step to step, and counts
/// state.grads         (nothing)        the gradient of a layer is yours to make, and to drop
/// batch.inputs        (s, b, h)        the input of layer 0; a GPT has token ids (s, b) instead
/// batch.targets       (s, b)           a negative target is padding: it counts for nothing
/// loss                (1)              is 0 before; model.loss adds the loss to it
///
/// Result  the weights after one update, state.optimizer[l] with it; the loss
/// Calls   model.forward, model.backward and model.update once for each layer, model.loss once
/// Memory  beside what is given, at the peak: the activations of the layers whose backward is still to come, the room
///         that one backward needs, and the gradient of the weights of ONE layer, the one whose backward runs. Less is
///         welcome. The host's memory is not used
///
/// Calls that you need: model.forward, model.loss, model.backward, model.update, model.size, rank.zeros.
/// A tensor is freed when its variable goes out of scope, or at once by `t = {};`.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 8 lines)
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  // The loss turns the logits into their gradient in the same memory; tokens_of_step leaves the padding out.
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    // Lives for one turn of the loop only. Zeros, because backward adds to it.
    Tensor grad_weights = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), grad_weights);
    x[l] = {};  // only backward of layer l needed it still
    // The layers below use their own weights, never these: so these may change before the backward pass is over.
    model.update(l, state.weights[l], grad_weights, state.optimizer[l]);
  }
  // <<<
}

// What it costs: L forward and L backward calls. At the peak, inside the first backward calls, every activation is
// still there, and one gradient: for L layers of width h on n tokens about 8 n h L bytes against 4 h (h + 1) for the
// gradient. All gradients at once would cost as much as the weights.
//
// What production does differently: most frameworks keep all gradients until a separate optimizer step, because the
// global gradient norm (for clipping), mixed precision's overflow test and gradient accumulation (puzzle 02) need
// them together. Updating inside the backward pass, as here, is LOMO (Lv et al. 2023) and what PyTorch offers through
// register_post_accumulate_grad_hook; it is chosen where memory matters most.
