// Puzzle 15: the optimizer on the host.
//
// Devices keep the weights; the host's memory, larger and slower, keeps all that the optimizer needs, and its processor
// makes the update. Copies and updates run beside the backward pass. The lesson is README.md beside this file;
// `./shardlings explain 15` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step of a model with L = model.num_layers() layers, on N ranks together. Of layer l, rank r updates the
/// part mine = world.mine(model.size(l)), with about 1/N of its weights.
///
/// state.weights[l]   (model.size(l))   weights of layer l, on the device: the same on all ranks, before and after
/// host.weights[l]    (mine.size())     this rank's part of them, in the host's memory, where Adam works on it
/// host.grads[l]      (mine.size())     on the host: room for the gradient of that part. Leave it there
/// host.optimizer[l]  .m, .v            on the host: both moments of that part. Its `step` is not used
/// step                                 what adam_async wants to know: learning rate, number of the step, …
/// batch                                inputs and targets of this rank's part of the batch, and tokens_of_step()
/// loss               (1)               is 0 before; takes this rank's share
///
/// Result  weights as if one device had trained on the batches of all; gradients and moments, part by part, on the host
/// Memory  weights, activations and two gradients of layers on the device: one that backward fills, one on its way.
///         Nothing more on the host than what is there
/// Wire    a reduce-scatter and an all-gather of each layer, by one call each; one copy of each layer's part to the
///         host, and one back
/// Time    backward runs once for each layer; reduce-scatters, copies to the host, Adam and copies to the device start
///         as early as they can with two gradients in device memory, and are hidden as far as they can be
void train_step(Rank& rank, const Model& model, TrainState& state, TrainState& host, const Batch& batch,
                const AdamStep& step, View loss) {
  Group& world = rank.world();
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);  // x[l]: (s, b, h), the input of layer l; x[L]: the logits
  std::vector<Saved> saved(layers);   // saved[l]: what backward of layer l needs besides x[l]
  x[0] = clone(batch.inputs);
  for (int l = 0; l < layers; ++l) x[l + 1] = model.forward(l, state.weights[l], x[l], &saved[l]);
  Tensor grad = model.loss(std::move(x[layers]), batch.targets, batch.tokens_of_step(), loss);

  // >>> your code (about 17 lines)
  Work drained;                      // the gradient of the layer above, on its way to the host; nothing at first
  std::vector<Work> filled(layers);  // new weights, on their way back
  for (int l = layers - 1; l >= 0; --l) {
    Tensor gw = rank.zeros(model.size(l), Kind::gradient);
    grad = model.backward(l, state.weights[l], x[l], std::move(saved[l]), std::move(grad), gw);
    x[l] = {};
    drained.wait();  // frees the gradient of the layer above: there are never more than two
    const Range mine = world.mine(model.size(l));
    const Work reduced = world.reduce_scatter_async(gw, gw.part(mine), ReduceOp::sum);
    drained = copy_async(host.grads[l], gw.part(mine), reduced).keep(std::move(gw));
    OptimizerState& moments = host.optimizer[l];
    const Work updated = adam_async(host.weights[l], host.grads[l], moments.m, moments.v, step, drained);
    filled[l] = copy_async(state.weights[l].part(mine), host.weights[l], updated);
  }
  std::vector<Work> gathered(layers);
  for (int l = layers - 1; l >= 0; --l) {  // as they arrive
    filled[l].wait();
    gathered[l] = world.all_gather_async(state.weights[l].part(world.mine(model.size(l))), state.weights[l]);
  }
  for (Work& work : gathered) work.wait();
  // <<<
}

// What it costs: on the device nothing but weights and two gradients, 4 Ψ bytes instead of 16 Ψ; on the host 16 Ψ/N for
// each rank; 4 Ψ/N bytes each way over the link with the host. With enough tokens in the batch the backward pass is the
// slowest of the five, and only the last layer's trip shows.
//
// What production does differently: DeepSpeed's ZeRO-Offload keeps weights and gradients in 16 bits on the device, so
// that 2 Ψ/N bytes travel each way, and its CPU-Adam casts while it updates, with vector instructions and several
// threads; it can also let the update of a step run beside the next step's forward (one step of delay). Clipping by the
// norm of all gradients spoils the overlap: no update may begin before the last gradient has arrived. ZeRO-Infinity
// goes on to disks. On systems where host and device share fast memory (GH200), copies cost a tenth.
