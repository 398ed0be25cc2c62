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
/// state.weights[l]    (model.size(l))  weights of layer l, flat; the step changes them in place
/// state.optimizer[l]                   what model.update wants to have beside them
/// state.grads         (nothing)        the gradient of a layer is yours to make, and to drop
/// batch.inputs        (s, b, h)        the input of layer 0; a GPT has token ids (s, b) instead
/// batch.targets       (s, b)           a negative target is padding: it counts for nothing
/// loss                (1)              is 0 before; model.loss adds the loss to it
///
/// Result  the weights after one update; the loss
/// Time    every layer once forward and once backward: L (F + B)
/// Memory  beside the weights and the batch, at the peak: the activations of the layers that are still to go
///         backward, the room that one backward needs, and the gradient of the weights of ONE layer
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
