// Puzzle 02: a large batch in small pieces.
//
// The batch comes as m micro-batches. Their gradients add up to that of the whole batch, in the memory of one.
// The lesson is README.md beside this file; `./shardlings explain 02` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step on m = batch.num_micro() micro-batches, with L = model.num_layers() layers.
///
/// state.weights[l]          (model.size(l))  weights of layer l, flat: before the step, and afterwards after it
/// state.grads[l]            (model.size(l))  zeros; backward adds to them. Leave the whole batch's gradient there
/// state.optimizer[l]                         what model.update keeps of layer l from step to step, and counts
/// batch.micro(i).inputs     (s, b, h)        the input of layer 0; a GPT has token ids (s, b) instead
/// batch.micro(i).targets    (s, b)           a negative target is padding: it counts for nothing
/// batch.micro(i).tokens                      targets of micro-batch i that count: at least 1, different for each i
/// batch.tokens_of_step()                     T, the targets that count in all micro-batches together
/// loss                      (1)              is 0 before; model.loss adds the loss to it
///
/// Result  weights, gradients and loss as if the whole batch had gone through at once
/// Calls   model.forward and model.backward once for each layer and micro-batch; model.update once for each layer, when
///         its gradient is complete
/// Memory  beside what is given, at the peak: the activations of ONE micro-batch. Less is welcome. The host's memory is
///         not used
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 11 lines)
  not_implemented();
  // <<<
}
