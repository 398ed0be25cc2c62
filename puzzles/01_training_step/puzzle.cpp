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
  not_implemented();
  // <<<
}
