// diagnosis: depth_first_in_forward
// Takes each micro-batch through all chunks before the next one starts.

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
  Unit now, ahead;
  for (int i = 0; i < m; ++i) {
    for (int c = 0; c < v; ++c) {
      now = {};
      now = gather(c);
      for (Work& work : now.gathered) work.wait();
      const Stage stage(model, chunks[c], tokens, now.weights, now.grads);
      forward(flow, stage, i, c);
    }
  }
  std::vector<Work> scattered;
  for (int c = v - 1; c >= 0; --c) {
    if (c < v - 1) {
      now = {};
      now = gather(c);
    }
    for (Work& work : now.gathered) work.wait();
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      now.grads[l] = rank.zeros(model.size(l), Kind::gradient);
    }
    const Stage stage(model, chunks[c], tokens, now.weights, now.grads);
    for (int i = 0; i < m; ++i) backward(flow, stage, i, c);
    for (Work& work : scattered) work.wait();
    scattered.clear();
    for (Count l = chunks[c].begin; l < chunks[c].end; ++l) {
      Tensor& full = now.grads[l];
      scattered.push_back(data.reduce_scatter_async(full, state.grads[l], ReduceOp::sum).keep(std::move(full)));
    }
  }
  for (Work& work : scattered) work.wait();
  // <<<
}
