// Puzzle 14: hybrid sharding (HSDP). Everything is divided over the ranks of a node, and nodes are replicas.
//
// Links between nodes are slow, so weights are gathered and gradients scattered inside a node only. What crosses the
// border is one shard of each gradient. The lesson is README.md beside this file; `./shardlings explain 14` shows it.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole weights of one layer: on their way, or there.
struct Unit {
  Tensor full;    // (model.size(l))
  Work gathered;  // the all-gather that fills it
};

/// One training step with L = model.num_layers() layers, on N = rank.size() ranks. Ranks 0 to ranks_per_node - 1 are on
/// the first node, the next as many on the second, and so on. The ranks of a node divide everything among themselves:
/// of n elements, rank k of a node has part k of ranks_per_node, and so has rank k of every other node.
///
/// state.weights[l]    (the part of size(l))  this rank's weights of layer l
/// state.grads[l]      (the part of size(l))  zeros. Leave the part of the gradient of the whole step there
/// state.optimizer[l]  (the part of size(l))  what model.update wants to have beside that part
/// batch.inputs        (s, b, h)              this rank's part of the batch; a GPT has token ids (s, b)
/// batch.targets       (s, b)                 its targets; a negative one is padding
/// loss                (1)                    is 0 before; takes this rank's share
///
/// Result   parts as if one device had trained on the batches of all N ranks, the same bits on all nodes
/// Memory   beside parts and activations: two units of weights, two layers' gradients, never more; nothing on the host
/// Inside   each layer is gathered twice and reduce-scattered once, by one call each, but layer L-1 is gathered once
/// Between  each part of a gradient is all-reduced once, by one call
/// Time     the first all-gather + L (F + B) + what is left of layer 0's (and 1's) gradient: everything else is hidden
///
/// Calls that you need: Grid(rank.world(), {{"name", size}, {"name", size}}); grid.along("name"), a Group;
/// group.all_gather_async, reduce_scatter_async and all_reduce_async, the first two as in puzzle 13; work.wait().
void train_step(Rank& rank, int ranks_per_node, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  // >>> your code (about 40 lines)
  not_implemented();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
