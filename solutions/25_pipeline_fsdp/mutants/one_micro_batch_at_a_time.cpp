// diagnosis: depth_first
// Takes each micro-batch forward and backward before the next one starts.

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

void train_step(Rank& rank, const Grid& grid, const Model& model, const std::vector<Range>& chunks, TrainState& state,
                Shape tokens, int micro_batches, Flow& flow) {
  Group data = grid.along("data");
  const int layers = model.num_layers(), m = micro_batches, v = static_cast<int>(chunks.size());

  // >>> your code (about 40 lines)
  const auto gather = [&](int c) {
    Unit unit(layers);
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      unit.weights[l] = rank.empty(model.size(l), Kind::parameter);
      unit.gathered.push_back(data.all_gather_async(state.weights[l], unit.weights[l]));
    }
    return unit;
  };
  std::vector<Unit> all;
  for (int c = 0; c < v; ++c) all.push_back(gather(c));
  for (int c = 0; c < v; ++c) {
    for (Work& work : all[c].gathered) work.wait();
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      all[c].grads[l] = rank.zeros(model.size(l), Kind::gradient);
    }
  }
  for (int i = 0; i < m; ++i) {
    for (int c = 0; c < v; ++c) {
      forward(flow, Stage(model, chunks[c], tokens, all[c].weights, all[c].grads), i, c);
    }
    for (int c = v - 1; c >= 0; --c) {
      backward(flow, Stage(model, chunks[c], tokens, all[c].weights, all[c].grads), i, c);
    }
  }
  for (int c = v - 1; c >= 0; --c) {
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      data.reduce_scatter(all[c].grads[l], state.grads[l], ReduceOp::sum);
    }
  }
  // <<<
}
