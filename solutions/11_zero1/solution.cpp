// Puzzle 11: ZeRO-1. Optimizer states are divided over the ranks.
//
// Each rank keeps the moments of an N-th of the weights, updates that N-th, and gets the others' from the others.
// The lesson is README.md beside this file; `./shardlings explain 11` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step with L = model.num_layers() layers, on N = rank.size() ranks together. Of n elements this rank
/// owns the part world.mine(n), a range. Where N does not divide n, the first n % N parts are one element longer.
///
/// state.weights[l]     (model.size(l))            weights of layer l: the same on all ranks before, and again after
/// state.grads[l]       (model.size(l))            at the hole: the gradient of this rank's tokens, divided by those of
///                                                 all ranks. Leave the sum over the ranks in this rank's part of it
/// state.optimizer[l]   (this rank's part of it)   moments m and v beside that part
/// limit                                           a whole gradient whose norm is larger is scaled down to this norm
/// loss                 (1)                        takes this rank's share; done already
///
/// Result  weights, moments and the part of the gradient as if one device had trained on the batches of all
/// Memory  weights and gradients whole, moments divided. When backward is over there is nothing beside them but `grad`,
///         the gradient of the inputs, and the few numbers of the norm, and nothing in the host's memory
/// Wire    what one all-reduce of the gradient sends, and an all-reduce of one number; a reduce-scatter and an
///         all-gather of each layer: no more than 2 L + 1 collectives
/// Time    each layer runs forward and backward once; then come the collectives, one after another. None needs to be
///         hidden
///
/// Calls that you need, in the order of the alphabet: add_squares(total, x), clip_factor(squares, limit),
/// model.update(l, part, part, state.optimizer[l], factor), which multiplies the gradient by the one number `factor`,
/// rank.zeros(1, Kind::other) for a sum of squares, world.all_gather(in, out), world.all_reduce(x, op),
/// world.reduce_scatter(in, out, op), where out may be in.part(world.mine(n)); likewise in all_gather.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
  }

  // >>> your code (about 13 lines)
  // Each rank gets the finished sum of its own part, half of what an all-reduce does.
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = 0; l < layers; ++l) {
    View mine = state.grads[l].part(world.mine(model.size(l)));
    world.reduce_scatter(state.grads[l], mine, ReduceOp::sum);
    add_squares(squares, mine);
  }
  // Every element is in exactly one rank's part, so the squares of all ranks are those of the whole gradient.
  world.all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  // The other half: everybody's new weights to everybody.
  for (int l = 0; l < layers; ++l) {
    const Range own = world.mine(model.size(l));
    View mine = state.weights[l].part(own);
    model.update(l, mine, state.grads[l].part(own), state.optimizer[l], factor);
    world.all_gather(mine, state.weights[l]);
  }
  // <<<
}

// What it costs: 8 Ψ + 8 Ψ/N bytes of weights, gradients and moments instead of 16 Ψ, and not one byte more on the wire
// than plain data parallel training, since an all-reduce is a reduce-scatter and an all-gather anyway. Only the norm is
// new: one number, which has to wait for all gradients, and which all updates have to wait for.
//
// What production does differently: Megatron-LM's distributed optimizer and DeepSpeed's stage 1 put all weights into
// flat buffers, padded so that N divides them, and cut those into parts, whatever layers they hit: one collective for
// each bucket instead of one for each layer. The reduce-scatters run during the backward pass (puzzle 12) and the
// all-gathers during the next forward pass, layer by layer. With bf16 weights the part also holds the f32 copy of the
// weights, and only bf16 is gathered: 12 of 16 bytes are divided by N, not 8.
