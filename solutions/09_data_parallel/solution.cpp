// Puzzle 09: data parallel training.
//
// Every rank holds the whole model and sees its own part of the batch. After the step all hold the same new weights.
// The lesson is README.md beside this file; `./shardlings explain 09` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step of a model with L = model.num_layers() layers, on N = rank.size() ranks together.
///
/// state.weights[l]        (model.size(l))  weights of layer l, flat: the same on all ranks before, and again after
/// state.grads[l]          (model.size(l))  zeros; backward adds to them. Leave the gradient of the whole step there
/// state.optimizer[l]                       what model.update wants to have beside them
/// batch.inputs            (s, b, h)        this rank's part of the batch; a GPT has token ids (s, b) instead
/// batch.targets           (s, b)           its targets; negative ones are padding: some on each rank, or even all
/// batch.tokens_of_step()                   targets that count, on all ranks together
/// loss                    (1)              is 0 before; model.loss adds this rank's share. Leave it at that
///
/// Result  weights and gradients on every rank as if one device had trained on the batches of all
/// Wire    one call of an all-reduce for each layer's gradient, with its bytes alone, and nothing else
/// Time    each layer runs forward and backward once; whatever can be hidden of the all-reduces is hidden
/// Memory  what one device needs for its own part of the batch (puzzle 02, one micro-batch); nothing on the host
///
/// Calls that you need: model.loss, model.backward and model.update as before; world.all_reduce_async(view, op), which
/// returns a Work at once, and work.wait(). Until then its view is in flight: do not touch what is in it.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);

  // >>> your code (about 11 lines)
  // Every rank divides by the tokens of ALL ranks, so the whole gradient is the plain sum of the ranks' gradients.
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);
  std::vector<Work> reduced(layers);
  for (int l = layers - 1; l >= 0; --l) {
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), state.grads[l]);
    x[l] = {};
    // This gradient is complete, and nobody below needs it: it travels while layer l-1 runs backward.
    reduced[l] = world.all_reduce_async(state.grads[l], ReduceOp::sum);
  }
  // In the order in which they were started: the gradient of layer 0 arrives last.
  for (int l = layers - 1; l >= 0; --l) {
    reduced[l].wait();
    model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
  }
  // <<<
}

// What it costs: 2(N-1)/N times the bytes of the gradient on the wire, whatever N is, and hardly any time as long as
// an all-reduce is hidden behind the next backward. The last one has nothing to hide behind. Memory does not shrink at
// all: weights, gradients and the optimizer's state stand on every rank (puzzles 11 to 13 divide them).
//
// What production does differently: PyTorch's DistributedDataParallel collects gradients into buckets of 25 MB, roughly
// in the order of the backward pass, since a message for each tensor would pay a latency for each (puzzle 10). It takes
// the mean over the ranks, which is right only if all ranks have equally many tokens; Megatron-LM has
// calculate_per_token_loss for the other case. On GPUs the all-reduce runs on a stream of its own and competes with the
// backward for memory bandwidth and for a few multiprocessors, so that hidden communication is cheap but not free.
