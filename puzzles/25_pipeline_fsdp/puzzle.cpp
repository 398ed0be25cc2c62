// Puzzle 25: a pipeline of sharded stages, breadth first.
//
// Along one axis of a grid the model is cut into stages, along the other one each stage is divided as in FSDP. All
// micro-batches go through a chunk before the next chunk is gathered. The lesson is README.md beside this file.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// The whole layers of one chunk, by their numbers in the model: tensors of layers outside of the chunk stay empty.
struct Unit {
  std::vector<Tensor> weights, grads;  // gradients in backward only
  std::vector<Work> gathered;          // the all-gathers that fill the weights
  explicit Unit(int layers = 0) : weights(layers), grads(layers) {}
};

/// Micro-batches on their way through the chunks of this rank; what moves them is given (it is in harness.cpp).
struct Flow;
/// Takes the input of chunk c for micro-batch i, computes, sends the output on.
void forward(Flow& flow, const Stage& stage, int i, int c, Location at = Location::current());
/// Takes the gradient of the chunk's output, computes, frees, sends the gradient of its input back.
void backward(Flow& flow, const Stage& stage, int i, int c, Location at = Location::current());

/// Gradients and loss of one step on m micro-batches. The grid has two axes: along "pipeline" rank r of p has v chunks
/// of layers, and chunk c is stage c p + r of p v; along "data" d ranks have the same chunks, each a part of every
/// layer, and micro-batches of their own. After the last stage of a chunk comes the first one of the next chunk, on
/// rank 0.
///
/// chunks[c]         layers of chunk c, first and one past the last
/// state.weights[l]  (data.mine(size(l)))  this rank's weights of layer l, for the layers of its chunks; else empty.
///                                         They are still there, unchanged, when train_step returns
/// state.grads[l]    (data.mine(size(l)))  zeros. Leave the part of the gradient of the whole step there
/// tokens            (s, b)                of a micro-batch: what a Stage wants to know
///
/// Result  parts of gradients, and the loss, as if one device had trained on the micro-batches of all: `backward` has
///         divided the loss by the tokens of all of them, so that gradients are plain sums
/// Wire    each chunk is gathered once for all forwards, and once for all backwards unless it is still whole then, and
///         reduce-scattered once, whatever m is, by one collective for a layer each time
/// Memory  at most parts and activations, two units of weights, two of gradients; nothing in the host's memory
/// Time    all micro-batches run through a chunk without a gap of their own, and gathers and scatters are hidden where
///         they can be, on links that gather a unit in m F, and gather and scatter in m B, with F and B those of a
///         chunk; nothing runs forward twice
///
/// Calls that you need: gather from below; rank.zeros(n, Kind::gradient); data.reduce_scatter_async(whole, part, op),
/// with .keep(std::move(whole)) behind it; work.wait();
/// Stage(model, chunks[c], tokens, weights, grads), which keeps views of the tensors; forward and backward from above.
void train_step(Rank& rank, const Grid& grid, const Model& model, const std::vector<Range>& chunks, TrainState& state,
                Shape tokens, int micro_batches, Flow& flow) {
  Group data = grid.along("data");
  const int layers = model.num_layers(), m = micro_batches, v = static_cast<int>(chunks.size());

  // Starts to gather the weights of chunk c, as in puzzle 13.
  [[maybe_unused]] const auto gather = [&](int c) {
    Unit unit(layers);
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      unit.weights[l] = rank.empty(model.size(l), Kind::parameter);
      unit.gathered.push_back(data.all_gather_async(state.weights[l], unit.weights[l]));
    }
    return unit;
  };

  // >>> your code (about 26 lines)
  not_implemented();
  // <<<
}
