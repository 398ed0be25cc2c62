// Puzzle 37: activations in the host's memory.
//
// Layers' inputs leave for the host while forward goes on, and come back one layer ahead of backward, so that two of
// them are on the device and nobody waits. The lesson is README.md beside this file; `./shardlings explain 37` shows it
// in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// One training step of a model with L = model.num_layers() layers, on one device and its host.
///
/// state.weights[l]  (model.size(l))  weights of layer l, flat; not updated here
/// state.grads[l]    (model.size(l))  zeros; backward adds to them. Leave the gradient there
/// batch.inputs      (s, b, h)        the input of layer 0, and there all the time: use it where it is. Of a GPT (s, b)
/// batch.targets     (s, b)           a negative target is padding: it counts for nothing
/// loss              (1)              is 0 before; model.loss adds the loss to it
///
/// Result  gradients and loss, exactly as if everything had been kept on the device
/// Memory  of the device: at any time the inputs x[l] of at most two neighbouring layers beside what the layer at work
///         holds itself. So nothing that forward saves is kept, and each layer but the last runs forward again right
///         before its backward. Of the host: what was moved there, once
/// Link    each input that moves goes to the host once and comes back once, each by one copy. x[0] stays, since it is
///         the batch; x[l] stays, too, if at most one other layer has its turn between the first forward of layer l
///         and its second one (of the last layer: its backward). All others move, and nothing else crosses
/// Work    each layer runs forward at most twice, the last one once; each runs backward once
/// Time    the copies hide behind the layers as far as they can: x[l] leaves while layers l and l+1 run forward, and
///         comes back while layer l+1 runs forward and backward. The program waits only for a copy that takes longer
///
/// Calls that you need: rank.host_empty(shape, Kind::activation), rank.empty(shape, Kind::activation); copy_async(to,
/// from), which returns a Work at once; work.wait(), which does nothing for a new one. A tensor on its way out may be
/// read; one on its way in may not be used, and neither may be dropped before the wait.
void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss) {
  const int layers = model.num_layers();
  std::vector<Tensor> x(layers + 1);   // x[l]: (s, b, width of l), the input of layer l > 0; x[L]: the logits
  std::vector<Tensor> parked(layers);  // parked[l]: room for x[l] in the host's memory; yours to make
  Saved saved;                         // what backward of the layer at work needs besides its input
  const auto input = [&](int l) { return l == 0 ? batch.inputs : ConstView(x[l]); };

  // >>> your code (about 26 lines)
  not_implemented();
  // <<<
}
