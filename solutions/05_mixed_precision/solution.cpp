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
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  scale(grad, loss_scale);  // everything that follows from it is S times as large
  Tensor overflow = rank.zeros(1, Kind::other), squares = rank.zeros(1, Kind::other);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
    rank.world().all_reduce(state.grads[l], ReduceOp::sum);
    scale(state.grads[l], 1 / loss_scale);  // a power of two: no bit is lost
    flag_nonfinite(overflow, state.grads[l]);
    add_squares(squares, state.grads[l]);
  }
  // The sum over the ranks is the same everywhere, infinity or not: so is what follows from it.
  if (rank.read(overflow) != 0) {
    loss_scale /= 2;
    clean = 0;
    return;
  }
  const Tensor factor = clip_factor(squares, limit);
  for (int l = 0; l < layers; ++l) {
    OptimizerState& moments = state.optimizer[l];
    adam_step.step = ++moments.step;
    adam(master[l], state.grads[l], moments.m, moments.v, adam_step, factor);
    cast_into(state.weights[l], master[l]);
  }
  if (++clean == growth) {
    loss_scale *= 2;
    clean = 0;
  }
  // <<<
}

// What it costs: 16 bytes for each weight, as training in f32 does, but activations and the bytes on the wire are half
// as large, and matrix units multiply bf16 fifteen times as fast as other units f32. Adam stays in f32, because a step
// is often smaller than half the distance between two bf16 numbers, and would be rounded away.
//
// What production does differently: with bf16 nobody scales the loss, since its exponents reach as far as those of f32;
// with fp16 (largest number 65504) it is needed, and PyTorch's GradScaler starts at 2^16, doubles S after 2000 clean
// steps and reads found_inf once per step as you do. Megatron-LM keeps gradients in f32 (18 bytes for each weight),
// since sums over many micro-batches and ranks in bf16 lose small terms; Llama 3 reduces them in f32, too. With sharded
// optimizers every rank sees its own part of the gradient only: there the flag and the squares have to be reduced as
// well.
