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
  std::vector<Work> started;
  Count open = model.total();  // elements [open, total) are on their way
  for (int i = 0; i < batch.num_micro(); ++i) {
    const bool last = i + 1 == batch.num_micro();
    Tensor grad = forward_and_loss(model, state, batch, i, x, saved, loss);
    for (int l = layers - 1; l >= 0; --l) {
      const Range own = model.range(l);
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), grads.part(own));
      x[l] = {};
      // Before the last micro-batch no gradient is complete. Then those from own.begin upwards are.
      if (last && (open - own.begin >= bucket || l == 0)) {
        started.push_back(world.all_reduce_async(grads.part({own.begin, open}), ReduceOp::sum));
        open = own.begin;
      }
    }
  }
  for (Work& work : started) work.wait();
  for (int l = 0; l < layers; ++l) {
    model.update(l, state.weights[l], grads.part(model.range(l)), state.optimizer[l]);
  }
  // <<<
}

// What it costs: the bytes of one all-reduce of the gradient per step, whatever m is, and two latencies of the ring for
// each bucket instead of each layer. What cannot be hidden is the last bucket, and the rest if the network is slow.
//
// What production does differently: PyTorch's DistributedDataParallel does not know in which order gradients become
// complete. It fills buckets of 25 MB (the first one of 1 MB, so that the network gets to work early) in the reverse
// order of the parameters, starts them in that order only, and reorders them after the first iteration. A gradient is a
// view of its bucket there too (gradient_as_bucket_view); accumulation runs under no_sync(). Megatron-LM lays gradients
// out as here: one flat buffer, cut into buckets from its end.
