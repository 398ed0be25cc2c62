// Gives each rank its parts of the layers of its chunks, moves micro-batches through the chunks for the learner's
// train_step, and publishes what is judged.

#include "submission/harness.h"

#include <utility>

using namespace shardlings;

/// Makes a Flow, and lets the learner's train_step use it.
SHARDLINGS_LEARNER_FUNCTION(train_with_flow, void(Rank& rank, const Grid& grid, const Model& model,
                                                  const std::vector<Range>& chunks, TrainState& state, Shape tokens,
                                                  const Batch& batch, const Group& down, const Group& up, View loss));

#ifdef SHARDLINGS_BESIDE_LEARNER

/// Takes micro-batches through this rank's chunks: receives, computes, sends on.
struct Flow {
  Rank& rank;
  const Model& model;
  const Batch& batch;
  View loss;
  Group down, up;                     // the same ranks; outputs go down, gradients up
  int v = 1;                          // chunks
  std::vector<Tensor> x{}, logits{};  // inputs by micro-batch and chunk, logits by micro-batch
  std::vector<StageSaved> saved{};    // as x
  std::vector<Work> round{};          // from the last rank to the first or back: taken when that one's turn comes

  int next() const { return (down.rank() + 1) % down.size(); }
  int prev() const { return (down.rank() + down.size() - 1) % down.size(); }
};

void forward(Flow& flow, const Stage& stage, int i, int c, Location at) {
  flow.round[i].wait(at);
  Tensor& in = flow.x[i * flow.v + c];
  if (stage.is_first()) {
    in = clone(flow.batch.micro(i).inputs, at);
  } else {
    in = flow.rank.empty(stage.input_shape(), Kind::activation, DType::f32, at);
    flow.down.recv(in, flow.prev(), at);
  }
  Tensor y = stage.forward(in, &flow.saved[i * flow.v + c], at);
  if (stage.is_last()) {
    flow.logits[i] = std::move(y);
  } else if (flow.next() == 0) {
    flow.round[i] = flow.down.send_async(y, flow.next(), at).keep(std::move(y));
  } else {
    flow.down.send(y, flow.next(), at);
  }
}

void backward(Flow& flow, const Stage& stage, int i, int c, Location at) {
  const MicroBatch& micro = flow.batch.micro(i);
  flow.round[i].wait(at);
  Tensor grad;
  if (stage.is_last()) {
    grad = flow.model.loss(std::move(flow.logits[i]), micro.targets, flow.batch.tokens_of_step(), flow.loss, at);
  } else {
    grad = flow.rank.empty(stage.output_shape(), Kind::activation, DType::f32, at);
    flow.up.recv(grad, flow.next(), at);
  }
  Tensor& in = flow.x[i * flow.v + c];
  grad = stage.backward(in, std::move(flow.saved[i * flow.v + c]), std::move(grad), at);
  in = {};
  if (stage.is_first()) return;
  if (flow.up.rank() == 0) {
    flow.round[i] = flow.up.send_async(grad, flow.prev(), at).keep(std::move(grad));
  } else {
    flow.up.send(grad, flow.prev(), at);
  }
}

void train_step(Rank& rank, const Grid& grid, const Model& model, const std::vector<Range>& chunks, TrainState& state,
                Shape tokens, int micro_batches, Flow& flow);

void train_with_flow(Rank& rank, const Grid& grid, const Model& model, const std::vector<Range>& chunks,
                     TrainState& state, Shape tokens, const Batch& batch, const Group& down, const Group& up,
                     View loss) {
  const std::size_t v = chunks.size(), m = static_cast<std::size_t>(batch.num_micro());
  Flow flow{rank, model, batch, loss, down, up, static_cast<int>(v)};
  flow.x.resize(m * v);
  flow.saved.resize(m * v);
  flow.logits.resize(m);
  flow.round.resize(m);
  train_step(rank, grid, model, chunks, state, tokens, static_cast<int>(m), flow);
}

#endif

namespace {

/// Weights and zero gradients: of each layer of a chunk the part of this rank.
void add_parts(submission::Harness& h, Range chunk, const Group& data, TrainState& state) {
  for (Count l = chunk.begin; l < chunk.end; ++l) {
    const int layer = static_cast<int>(l);
    const Range mine = data.mine(h.model().size(layer));
    state.weights[l] = h.weights(layer, mine);
    state.grads[l] = h.rank().zeros(mine.size(), Kind::gradient);
    h.mark_layer(state.grads[l], layer);
  }
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const int p = static_cast<int>(h.integer("stages")), v = static_cast<int>(h.integer("chunks"));
  const Grid grid(h.rank().world(), {{"pipeline", p}, {"data", h.rank().size() / p}});
  const Group data = grid.along("data");
  const int r = grid.coordinate("pipeline");
  const Model model = h.model();
  TrainState state;
  state.weights.resize(model.num_layers());
  state.grads.resize(model.num_layers());
  std::vector<Range> chunks;
  for (int c = 0; c < v; ++c) {
    chunks.push_back(h.layers_of_stage(c * p + r, p * v));
    add_parts(h, chunks.back(), data, state);
  }
  const Batch batch = h.batch({.inputs = r == 0, .targets = r == p - 1, .which = data.rank()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  const Group down = grid.along("pipeline"), up = grid.across({"pipeline"});
  h.begin();
  train_with_flow(h.rank(), grid, model, chunks, state, {h.kase().model.sequence, h.kase().batch}, batch, down, up,
                  loss);
  h.end();
  h.put_parts("grads", state.grads, data);
  h.put_parts("weights left", state.weights, data);
  h.put_of_rank("loss by rank", loss);
}
