// Puzzle 05: mixed precision.
//
// Weights, activations and gradients in 16 bits, the optimizer in 32, and a loss that is scaled so that nothing gets
// lost between the two. The lesson is README.md beside this file; `./shardlings explain 05` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step of a model with L = model.num_layers() layers, on N = rank.size() ranks that share the batch.
///
/// state.weights[l]    (model.size(l), bf16)   weights of layer l, as forward and backward use them
/// state.grads[l]      (model.size(l), bf16)   zeros; backward adds to them
/// state.master[l]     (model.size(l), f32)    the optimizer's own weights: the bf16 ones are these, rounded
/// state.optimizer[l]  .m, .v (f32)            both moments; .step: updates made so far
/// batch               inputs, targets and tokens_of_step(), as in the puzzles before
/// mixed               five things, which the first line unpacks:
/// adam_step           lr and the other numbers of adam(); its `step` is yours to fill in: the update's number, from 1
/// limit               no update may use a gradient whose norm, over all layers, is larger
/// loss_scale          S, a power of two: what the loss is multiplied by. Yours to adapt
/// clean               steps without an overflow since S was changed last. Yours to count
/// growth              so many clean steps in a row double S
/// loss                (1)                     is 0 before; model.loss adds this rank's share, without S
///
/// Result  in a step without overflow, master weights and moments as if the gradient had never been scaled, and
///         state.weights the same, rounded; state.optimizer[l].step is one more. In a step with an infinity or NaN in
///         any gradient on any rank, none of these four changes on any rank, and S is halved. What state.grads and
///         adam_step hold afterwards is not looked at
/// Memory  weights and gradients in bf16, master weights and moments in f32, no second copy of any of them; activations
///         in bf16; nothing in the host's memory
///
/// Calls that you need, in the order of the alphabet: adam, add_squares, cast_into, clip_factor, flag_nonfinite, scale;
/// rank.world().all_reduce(view, ReduceOp::sum), which adds a gradient up over the ranks (one rank has nothing to add);
/// rank.read(flag), which waits for the device: once in a step is often enough. The lesson says what each does.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, MixedPrecision& mixed,
                View loss) {
  [[maybe_unused]] auto& [adam_step, limit, growth, loss_scale, clean] = mixed;
  [[maybe_unused]] std::vector<Tensor>& master = state.master;
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h) in bf16, the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  const bool is_text = batch.inputs.dtype() == DType::i32;  // token ids stay what they are
  x[0] = is_text ? clone(batch.inputs) : cast(batch.inputs, DType::bf16);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);

  // >>> your code (about 24 lines)
  not_implemented();
  // <<<
}
