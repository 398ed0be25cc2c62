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
  Bucket sent;  // on its way; there is never more than one
  const auto arrive = [&] {
    sent.reduced.wait();
    // The sum has been made in place: of the bucket, this rank's part holds it.
    if (sent.full) add(state.grads[sent.layer], sent.full.part(world.mine(sent.full.size())));
    sent = {};
  };
  for (int i = 0; i < batch.num_micro(); ++i) {
    const MicroBatch& micro = batch.micro(i);
    x[0] = clone(micro.inputs);
    for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
    Tensor grad = model.loss(std::move(x[layers]), micro.targets, batch.tokens_of_step(), loss);
    for (int l = layers - 1; l >= 0; --l) {
      Tensor full = rank.zeros(model.size(l), Kind::gradient);
      grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), full);
      x[l] = {};
      arrive();  // the bucket of the layer above: this backward has hidden its way
      Work reduced = world.reduce_scatter_async(full, full.part(world.mine(full.size())), ReduceOp::sum);
      sent = {l, std::move(full), std::move(reduced)};
    }
  }
  arrive();
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

// What it costs: as many bytes as data parallel for one micro-batch, and the gradient of the model is nowhere in one
// piece. With m micro-batches each of them pays a reduce-scatter of everything, where ZeRO-1 adds up locally and pays
// once: a rank cannot accumulate into parts that it no longer holds. That is the price of (N-1)/N of the memory of the
// gradient.
//
// What production does differently: DeepSpeed (stage 2) copies gradients into buckets of 500 million elements as
// autograd hands them out, reduces each bucket on a side stream and keeps the own partition only; its documentation
// advises against many accumulation steps for the reason above. PyTorch's FSDP2 comes to the same with
// reshard_after_forward=False: weights stay gathered, gradients are reduce-scattered unit by unit. Megatron-LM's
// classic distributed optimizer keeps the whole gradient buffer instead (ZeRO-1), so that it reduces once per step.
