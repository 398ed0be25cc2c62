// Puzzle 13: ZeRO-3, also known as fully sharded data parallel (FSDP). Weights are divided over the ranks, too.
//
// Every rank owns a part of each layer. A layer's weights are gathered shortly before they are used, and dropped right
// after. The lesson is README.md beside this file; `./shardlings explain 13` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole weights of one layer: on their way, or there.
struct Unit {
  Tensor full;    // (model.size(l))
  Work gathered;  // the all-gather that fills it
};

/// One training step with L = model.num_layers() layers, on N = rank.size() ranks together. Of n elements this rank
/// owns world.mine(n), its part, with n/N of them, rounded up or down.
///
/// state.weights[l]    (this rank's part of size(l))  its weights of layer l: all that is left of them between steps
/// state.grads[l]      (this rank's part of size(l))  zeros. Leave the part of the gradient of the whole step there
/// state.optimizer[l]  (this rank's part of size(l))  what model.update wants to have beside that part
/// batch.inputs        (s, b, h)                      this rank's part of the batch; a GPT has token ids (s, b)
/// batch.targets       (s, b)                         its targets; a negative one is padding
/// loss                (1)                            is 0 before; takes this rank's share
///
/// Result  parts as if one device had trained on the batches of all
/// Memory  beside parts and activations: two units of weights, two layers' gradients, never more; nothing on the host
/// Wire    each layer is gathered for its forward, and for its backward unless it is still whole then, and
///         reduce-scattered once, by one call each
/// Time    each layer runs forward and backward once; everything is hidden that can be
///
/// Calls that you need: rank.empty(n, Kind::parameter); world.all_gather_async(part, whole); work.wait();
/// world.reduce_scatter_async(whole, part, op), with .keep(std::move(whole)) behind it: a Work that frees `whole` when
/// it is waited for. A unit is moved, never copied; assigning to one frees what it held.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 25 lines)
  not_implemented();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
