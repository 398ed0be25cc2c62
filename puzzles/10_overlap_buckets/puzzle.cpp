// Puzzle 10: gradient buckets and accumulation.
//
// Several layers' gradients travel in one all-reduce, during the backward pass of the last micro-batch.
// The lesson is README.md beside this file; `./shardlings explain 10` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// Forward pass and loss of one micro-batch: fills x[0] to x[L-1] and saved[0] to saved[L-1], and returns the gradient
/// of the logits. (Puzzles 01 and 02)
Tensor forward_and_loss(const Model& model, const TrainState& state, const Batch& batch, int micro,
                        std::vector<Tensor>& x, std::vector<Saved>& saved, View loss) {
  const int layers = model.num_layers();
  x[0] = clone(batch.micro(micro).inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  return model.loss(std::move(x[layers]), batch.micro(micro).targets, batch.tokens_of_step(), loss);
}

/// One training step with L = model.num_layers() layers, N = rank.size() ranks, m = batch.num_micro() micro-batches.
///
/// grads               (model.total())  zeros: the gradients of ALL layers, one behind the other. That of layer l lies
///                                      in model.range(l), layer 0 first. Leave the gradient of the whole step there
/// state.weights[l]    (model.size(l))  the same on all ranks before, and again after
/// state.optimizer[l]                   what model.update wants to have beside them
/// bucket                               1 or more: how many elements close a bucket, by the rule below
/// loss                (1)              takes this rank's share; forward_and_loss has seen to it
///
/// Result  weights and gradients on every rank as if one device had trained on all micro-batches of all ranks
/// Wire    every element of the gradient goes through one all-reduce per step, not per micro-batch
/// Calls   one all-reduce for each bucket, and nothing else. A bucket holds whole layers: going down from layer L-1, it
///         is closed after the first layer with which it holds `bucket` elements or more, and after layer 0
/// Time    an all-reduce starts when its last layer has run backward, and is hidden as far as the network allows; each
///         micro-batch runs forward and backward once
/// Memory  weights, grads, batch, the activations of one micro-batch; no copies of gradients, nothing on the host
///
/// A range of layers that lie side by side is one view: grads.part({begin, end}).
void train_step(Rank& rank, const Model& model, TrainState& state, View grads, const Batch& batch, Count bucket,
                View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 17 lines)
  not_implemented();
  // <<<
}
