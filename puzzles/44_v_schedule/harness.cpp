// Gives each rank its two chunks of layers, moves micro-batches through them for the learner's train_step, and
// publishes what is judged.

#include "submission/harness.h"

#include <string>
#include <utility>

using namespace shardlings;

/// Makes a Flow, and lets the learner's train_step use it.
SHARDLINGS_LEARNER_FUNCTION(train_with_flow,
                            void(Rank& rank, const Model& model, const std::vector<Stage>& chunks, const Batch& batch,
                                 const Group& outputs, const Group& grads, View loss));

#ifdef SHARDLINGS_BESIDE_LEARNER

/// Takes micro-batches through this rank's two chunks: receives, computes, sends on. Messages between two ranks of a
/// group keep their order, so outputs and gradients have a group each.
struct Flow {
  /// What one chunk has of each micro-batch.
  struct Chunk {
    std::vector<Tensor> x{};          // input, from F to W
    std::vector<StageSaved> saved{};  // likewise
    std::vector<Tensor> y{};          // output of the last stage, until its loss
    std::vector<Tensor> turned{};     // output or its gradient, where the pipeline turns round on this rank
    std::vector<bool> had_input{};    // whether B has run
    std::vector<Work> sent{};         // output, until its gradient comes
    std::vector<Work> returned{};     // gradient of the input
  };

  Rank& rank;
  const Model& model;
  const std::vector<Stage>& stages;
  const Batch& batch;
  View loss;
  Group outputs, grads;  // the same ranks
  std::vector<Chunk> chunks{};

  int most() const { return 2 * rank.size(); }
  bool turns_below(int c) const { return c == 0 && rank.id() == rank.size() - 1; }
  bool turned_above(int c) const { return c == 1 && rank.id() == rank.size() - 1; }
  /// The rank with the stage behind chunk c, and the one with the stage before it.
  int behind(int c) const { return c == 0 ? rank.id() + 1 : rank.id() - 1; }
  int before(int c) const { return c == 0 ? rank.id() - 1 : rank.id() + 1; }
};

namespace {

/// Throws that a pass came before one that it needs on its own rank.
[[noreturn]] void throw_too_early(const Flow& flow, const char* pass, int c, int i, const char* needed, int of_chunk,
                                  Location at) {
  const auto call = [](const char* name, int chunk) { return std::string(name) + "(" + std::to_string(chunk) + ")"; };
  const std::string message = "rank " + std::to_string(flow.rank.id()) + ": " + call(pass, c) + " of micro-batch " +
                              std::to_string(i) + " before " + call(needed, of_chunk) + " of it";
  throw InvalidArgument(message.c_str(), at);
}

}  // namespace

void flow_forward(Flow& flow, int c, int i, Location at) {
  const Stage& stage = flow.stages[c];
  Flow::Chunk& chunk = flow.chunks[c];
  Tensor& x = chunk.x[i];
  if (stage.is_first()) {
    x = clone(flow.batch.micro(i).inputs, at);
  } else if (flow.turned_above(c)) {
    Tensor& turned = flow.chunks[0].turned[i];
    if (!turned) throw_too_early(flow, "forward", 1, i, "forward", 0, at);
    x = std::move(turned);
  } else {
    x = flow.rank.empty(stage.input_shape(), Kind::activation, DType::f32, at);
    flow.outputs.recv(x, flow.before(c), at);
  }
  Tensor y = stage.forward(x, &chunk.saved[i], at);
  if (stage.is_last()) {
    chunk.y[i] = std::move(y);
  } else if (flow.turns_below(c)) {
    chunk.turned[i] = std::move(y);
  } else {
    chunk.sent[i] = flow.outputs.send_async(y, flow.behind(c), at).keep(std::move(y));
  }
}

void flow_backward_input(Flow& flow, int c, int i, Location at) {
  const Stage& stage = flow.stages[c];
  Flow::Chunk& chunk = flow.chunks[c];
  if (!chunk.x[i]) throw_too_early(flow, "backward_input", c, i, "forward", c, at);
  Tensor grad;
  if (stage.is_last()) {
    const MicroBatch& micro = flow.batch.micro(i);
    grad = flow.model.loss(std::move(chunk.y[i]), micro.targets, flow.batch.tokens_of_step(), flow.loss, at);
  } else if (flow.turns_below(c)) {
    Tensor& turned = flow.chunks[1].turned[i];
    if (!turned) throw_too_early(flow, "backward_input", 0, i, "backward_input", 1, at);
    grad = std::move(turned);
  } else {
    chunk.sent[i].wait(at);  // what is to come back was taken long ago
    grad = flow.rank.empty(stage.output_shape(), Kind::activation, DType::f32, at);
    flow.grads.recv(grad, flow.behind(c), at);
  }
  grad = stage.backward_input(chunk.x[i], chunk.saved[i], std::move(grad), at);
  chunk.had_input[i] = true;
  if (stage.is_first()) return;
  if (flow.turned_above(c)) {
    chunk.turned[i] = std::move(grad);
    return;
  }
  // Taken as well: nobody holds more than so many of them.
  if (i >= flow.most()) chunk.returned[i - flow.most()].wait(at);
  chunk.returned[i] = flow.grads.send_async(grad, flow.before(c), at).keep(std::move(grad));
}

void flow_backward_weights(Flow& flow, int c, int i, Location at) {
  Flow::Chunk& chunk = flow.chunks[c];
  if (!chunk.had_input[i]) throw_too_early(flow, "backward_weights", c, i, "backward_input", c, at);
  flow.stages[c].backward_weights(chunk.x[i], std::move(chunk.saved[i]), at);
  chunk.x[i] = {};
}

void train_step(int p, int r, int m, Flow& flow);

void train_with_flow(Rank& rank, const Model& model, const std::vector<Stage>& chunks, const Batch& batch,
                     const Group& outputs, const Group& grads, View loss) {
  const std::size_t m = static_cast<std::size_t>(batch.num_micro());
  Flow flow{rank, model, chunks, batch, loss, outputs, grads};
  flow.chunks.resize(2);
  for (Flow::Chunk& chunk : flow.chunks) {
    chunk.x.resize(m);
    chunk.saved.resize(m);
    chunk.y.resize(m);
    chunk.turned.resize(m);
    chunk.had_input.resize(m);
    chunk.sent.resize(m);
    chunk.returned.resize(m);
  }
  train_step(rank.size(), rank.id(), static_cast<int>(m), flow);
  for (Flow::Chunk& chunk : flow.chunks) {
    for (Work& work : chunk.returned) work.wait();
  }
}

#endif

SHARDLINGS_HARNESS(h) {
  const int p = h.rank().size(), r = h.rank().id();
  const std::vector<Range> layers{h.layers_of_stage(r, 2 * p), h.layers_of_stage(2 * p - 1 - r, 2 * p)};
  TrainState state = h.state({.layers = layers});
  const std::vector<Stage> chunks = h.stages(layers, state);
  const Batch batch = h.batch({.inputs = r == 0, .targets = r == 0});
  Tensor loss = h.rank().zeros(1, Kind::other);
  const Group outputs = h.rank().world().split(0, r, "outputs"), grads = h.rank().world().split(0, r, "grads");
  h.begin();
  train_with_flow(h.rank(), h.model(), chunks, batch, outputs, grads, loss);
  h.end();
  h.put_layers("grads", state.grads);
  h.put_of_rank("loss by rank", loss);
}
