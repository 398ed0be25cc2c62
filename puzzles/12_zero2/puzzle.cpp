// Puzzle 12: ZeRO-2. Optimizer states and gradients are divided over the ranks.
//
// No rank ever holds the gradient of the whole model: a layer's is summed, cut into parts and freed while backward goes
// on. The lesson is README.md beside this file; `./shardlings explain 12` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole gradient of one layer: being filled by backward, or on its way into the parts.
struct Bucket {
  int layer = -1;
  Tensor full;   // (model.size(layer)); none: there is no bucket
  Work reduced;  // its reduce-scatter
};

/// One training step with L = model.num_layers() layers and m = batch.num_micro() micro-batches, on N ranks together.
/// Of n elements this rank owns world.mine(n), its part, with n/N of them, rounded up or down.
///
/// state.weights[l]    (model.size(l))            weights of layer l: the same on all ranks
/// state.grads[l]      (this rank's part of it)   zeros. Leave the part of the gradient of the whole step there
/// state.optimizer[l]  (this rank's part of it)   what model.update wants to have beside that part
/// batch.micro(i)      inputs (s, b, h) or ids (s, b), targets (s, b), of micro-batch i of this rank
/// limit                                          of the norm of the whole gradient: used below the hole
/// loss                (1)                        is 0 before; takes this rank's share, of all micro-batches
///
/// Result  weights and parts as if one device had trained on all batches
/// Memory  beside weights, parts and one micro-batch's activations two buckets at most, each as long as its layer: one
///         that backward fills, one on its way. Nothing in the host's memory
/// Wire    one call of a reduce-scatter for each bucket that backward fills. The weights are whole: they are gathered
///         below
/// Time    each micro-batch runs forward and backward once; a reduce-scatter is hidden wherever computation follows it
///
/// Calls that you need: those of puzzle 02; rank.zeros(n, Kind::gradient); world.reduce_scatter_async(in, out, op),
/// which writes to out and does not add; work.wait(); add(y, x). A bucket is moved, never copied; `= {}` frees it.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]

  // >>> your code (about 21 lines)
  not_implemented();
  // <<<

  // As in puzzle 11: the norm from all parts, an update of this rank's part, and everybody's parts of the weights.
  Tensor squares = rank.zeros(1, Kind::other);
  for (int l = 0; l < layers; ++l) add_squares(squares, state.grads[l]);
  world.all_reduce(squares, ReduceOp::sum);
  const Tensor factor = clip_factor(squares, limit);
  std::vector<Work> gathered(layers);
  for (int l = 0; l < layers; ++l) {
    View mine = state.weights[l].part(world.mine(model.size(l)));
    model.update(l, mine, state.grads[l], state.optimizer[l], factor);
    gathered[l] = world.all_gather_async(mine, state.weights[l]);
  }
  for (Work& work : gathered) work.wait();
}
