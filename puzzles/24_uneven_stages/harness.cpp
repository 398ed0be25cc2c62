// Asks the learner's place_layers for the stages, gives each rank the layers of its own, moves micro-batches through it
// for the learner's train_step, and publishes what is judged.

#include "submission/harness.h"

#include <string>
#include <utility>

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(place_layers,
                            std::vector<Range>(const Model& model, Shape tokens, int p, int m, Count memory));
/// Makes a Flow, and lets the learner's train_step use it.
SHARDLINGS_LEARNER_FUNCTION(train_with_flow,
                            void(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss));

#ifdef SHARDLINGS_BESIDE_LEARNER

/// Takes micro-batches through this rank's stage: receives, computes, sends on. In each direction one message may be on
/// its way.
struct Flow {
  Rank& rank;
  const Model& model;
  const Stage& stage;
  const Batch& batch;
  View loss;
  std::vector<Tensor> x{}, logits{};  // by micro-batch
  std::vector<StageSaved> saved{};
  Work down{}, up{};
};

/// Beyond the end of these vectors somebody else's memory would be taken for a micro-batch.
void require_micro_batch(const Flow& flow, const char* call, int i, Location at) {
  const int m = flow.batch.num_micro();
  if (i >= 0 && i < m) return;
  const std::string place = std::string(at.file) + ":" + std::to_string(at.line);
  const std::string text = place + ": " + call + ": there is no micro-batch " + std::to_string(i) + ": the step has " +
                           std::to_string(m) + ", which are numbered from 0 to " + std::to_string(m - 1);
  throw InvalidArgument(text.c_str(), at);
}

void forward(Flow& flow, int i, Location at) {
  require_micro_batch(flow, "forward", i, at);
  Group& world = flow.rank.world();
  Tensor& in = flow.x[i];
  if (flow.stage.is_first()) {
    in = clone(flow.batch.micro(i).inputs, at);
  } else {
    in = flow.rank.empty(flow.stage.input_shape(), Kind::activation, DType::f32, at);
    world.recv(in, flow.rank.id() - 1, at);
  }
  Tensor y = flow.stage.forward(in, &flow.saved[i], at);
  if (flow.stage.is_last()) {
    flow.logits[i] = std::move(y);
    return;
  }
  flow.down.wait(at);
  flow.down = world.send_async(y, flow.rank.id() + 1, at).keep(std::move(y));
}

void backward(Flow& flow, int i, Location at) {
  require_micro_batch(flow, "backward", i, at);
  Group& world = flow.rank.world();
  const MicroBatch& micro = flow.batch.micro(i);
  Tensor grad;
  if (flow.stage.is_last()) {
    grad = flow.model.loss(std::move(flow.logits[i]), micro.targets, flow.batch.tokens_of_step(), flow.loss, at);
  } else {
    grad = flow.rank.empty(flow.stage.output_shape(), Kind::activation, DType::f32, at);
    world.recv(grad, flow.rank.id() + 1, at);
  }
  grad = flow.stage.backward(flow.x[i], std::move(flow.saved[i]), std::move(grad), at);
  flow.x[i] = {};
  if (flow.stage.is_first()) return;
  flow.up.wait(at);
  flow.up = world.send_async(grad, flow.rank.id() - 1, at).keep(std::move(grad));
}

void train_step(int p, int r, int m, Flow& flow);

void train_with_flow(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  const auto m = static_cast<std::size_t>(batch.num_micro());
  Flow flow{rank, model, stage, batch, loss};
  flow.x.resize(m);
  flow.logits.resize(m);
  flow.saved.resize(m);
  train_step(rank.size(), rank.id(), static_cast<int>(m), flow);
  flow.down.wait();
  flow.up.wait();
}

#endif

namespace {

[[noreturn]] void refuse_placement(const std::string& why) {
  throw InvalidArgument(("place_layers " + why).c_str(), detail::kNoPlace);
}

/// Every stage has a layer, and every layer is on one stage, in the order of the model.
void check_placement(const std::vector<Range>& stages, int p, Count layers) {
  if (static_cast<int>(stages.size()) != p) {
    refuse_placement("returns " + std::to_string(stages.size()) + " stages, but there are " + std::to_string(p) +
                     " ranks");
  }
  if (p > 1 && stages.front().end == 0 && stages.back() == Range{0, layers}) {
    refuse_placement(
        "gives the last stage all layers and the others none, as from a table in which no placement fits; "
        "but one does, so something is counted too much");
  }
  Count next = 0;
  for (std::size_t r = 0; r < stages.size(); ++r) {
    const std::string place = "has [" + std::to_string(stages[r].begin) + ", " + std::to_string(stages[r].end) +
                              ") as the layers of stage " + std::to_string(r);
    if (stages[r].begin != next) {
      refuse_placement(place + ", but the next one without a stage is layer " + std::to_string(next));
    }
    if (stages[r].end <= stages[r].begin) refuse_placement(place + ", which is no layer");
    if (stages[r].end > layers) {
      refuse_placement(place + ", but there are only " + std::to_string(layers) + " layers");
    }
    next = stages[r].end;
  }
  if (next != layers) refuse_placement("leaves layer " + std::to_string(next) + " without a stage");
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const Shape tokens{h.kase().model.sequence, h.kase().batch};
  const int p = h.rank().size();
  const std::vector<Range> stages = place_layers(h.model(), tokens, p, h.kase().micro_batches, h.integer("memory"));
  check_placement(stages, p, h.model().num_layers());
  const Range layers = stages[static_cast<std::size_t>(h.rank().id())];
  TrainState state = h.state({.layers = {layers}});
  const Stage stage = h.stage(layers, state);
  const Batch batch = h.batch({.inputs = stage.is_first(), .targets = stage.is_last()});
  Tensor loss = h.rank().zeros(1, Kind::other);
  h.begin();
  train_with_flow(h.rank(), h.model(), stage, batch, loss);
  h.end();
  h.put_layers("grads", state.grads);
  h.put_of_rank("loss by rank", loss);
}
