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
/// Inside   each layer is gathered for its forward, and for its backward unless it is still whole then, and
///          reduce-scattered once, by one call each
/// Between  each part of a gradient is all-reduced once, by one call
/// Time     each layer runs forward and backward once; each collective, inside a node and between them, hides behind
///          the next forward or backward, or the step ends as early in another way
///
/// Calls that you need: gather from below; group.reduce_scatter_async and all_reduce_async, the first as in puzzle 13,
/// on the groups from below; work.wait().
void train_step(Rank& rank, int ranks_per_node, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);

  const Grid grid(rank.world(), {{"replicate", rank.size() / ranks_per_node}, {"shard", ranks_per_node}});
  Group shard = grid.along("shard"), replicas = grid.along("replicate");

  // The forward pass of puzzle 13, inside the node. Afterwards `now` has the last layer's weights, and `next` nothing.
  const auto gather = [&](int l) {
    Unit unit{rank.empty(model.size(l), Kind::parameter), {}};
    unit.gathered = shard.all_gather_async(state.weights[l], unit.full);
    return unit;
  };
  Unit now, next = gather(0);
  for (int l = 0; l < layers; ++l) {
    now = std::move(next);
    if (l + 1 < layers) next = gather(l + 1);
    now.gathered.wait();
    x[l + 1] = model.forward(l, now.full, x[l], &saved[l]);
  }
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);

  // >>> your code (about 18 lines)
  not_implemented();
  // <<<

  for (int l = 0; l < layers; ++l) model.update(l, state.weights[l], state.grads[l], state.optimizer[l]);
}
