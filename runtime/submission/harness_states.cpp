// Training states, and the groups and stages that they are made for.
#include "submission/harness.h"

#include <fmt/format.h>

#include <stdexcept>

#include "api/access.h"
#include "base/machine_fault.h"
#include "base/parts.h"

namespace shardlings::submission {

using detail::kNoPlace;

namespace {

std::vector<int> layers_inside(const std::vector<Range>& chunks) {
  std::vector<int> layers;
  for (const Range& chunk : chunks) {
    for (Count l = chunk.begin; l < chunk.end; ++l) layers.push_back(static_cast<int>(l));
  }
  return layers;
}

/// Which tensors a layer of a state has, by what a choice says.
class LayerMaker {
 public:
  LayerMaker(Harness& harness, const StateChoice& choice, int layer)
      : h_(harness), choice_(choice), layer_(layer), group_(choice.group ? choice.group : harness.rank().world()) {}

  Range held(bool is_divided) const {
    const Count size = h_.model().size(layer_);
    return is_divided ? group_.mine(size) : Range{0, size};
  }
  Tensor zeros(bool is_divided, Kind kind, DType dtype) const {
    const Shape shape = held(is_divided).size();
    return marked(on_host() ? h_.rank().host_zeros(shape, kind, dtype, kNoPlace)
                            : h_.rank().zeros(shape, kind, dtype, kNoPlace));
  }
  Tensor unknown(bool is_divided, Kind kind) const {
    return marked(h_.rank().host_empty(held(is_divided).size(), kind, DType::f32, kNoPlace));
  }
  Tensor weights() const {
    const Range part = held(choice_.divided.weights);
    if (!on_host()) return h_.weights(layer_, part);
    Tensor first = unknown(choice_.divided.weights, Kind::parameter);
    copy(first, h_.weights(layer_, part), kNoPlace);
    return first;
  }
  bool on_host() const { return choice_.memory == Memory::host; }

 private:
  Tensor marked(Tensor tensor) const {
    h_.mark_layer(tensor, layer_);
    return tensor;
  }

  Harness& h_;
  const StateChoice& choice_;
  int layer_;
  Group group_;
};

}  // namespace

GridGroups Harness::grid_groups(int t, int p, int d) {
  const Grid grid(rank_.world(), {{"dp", d}, {"pp", p}, {"tp", t}}, kNoPlace);
  Group pipeline = grid.along("pp", kNoPlace);
  const int r = pipeline.rank();
  const bool is_end = r == 0 || r == p - 1;
  GridGroups groups;
  groups.tp = grid.along("tp", kNoPlace);
  groups.dp = grid.along("dp", kNoPlace);
  groups.down = pipeline.split(0, r, "down", kNoPlace);
  groups.up = pipeline.split(0, r, "up", kNoPlace);
  groups.ends = pipeline.split(is_end ? 0 : kNobody, r, "ends", kNoPlace);
  return groups;
}

TrainState Harness::state(const StateChoice& choice) {
  const bool is_divided = choice.divided.weights || choice.divided.grads || choice.divided.optimizer;
  if (choice.dtype != DType::f32 && (is_divided || choice.memory == Memory::host)) {
    throw std::logic_error("harness.cpp: a state in bf16 is whole and on the device");
  }
  const auto count = static_cast<std::size_t>(model().num_layers());
  TrainState state;
  state.weights.resize(count);
  state.grads.resize(count);
  state.optimizer.resize(count);
  state.master.resize(choice.dtype == DType::f32 ? 0 : count);
  const std::vector<Range> all = {{0, model().num_layers()}};
  for (const int l : layers_inside(choice.layers.empty() ? all : choice.layers)) add_layer(state, choice, l);
  return state;
}

void Harness::add_layer(TrainState& state, const StateChoice& choice, int layer) {
  const LayerMaker make(*this, choice, layer);
  const auto l = static_cast<std::size_t>(layer);
  if (choice.dtype == DType::f32) {
    state.weights[l] = make.weights();
  } else {
    state.master[l] = make.weights();
    state.weights[l] = make.zeros(false, Kind::parameter, choice.dtype);
    cast_into(state.weights[l], state.master[l], kNoPlace);
  }
  if (choice.grads) {
    state.grads[l] = make.on_host() ? make.unknown(choice.divided.grads, Kind::gradient)
                                    : make.zeros(choice.divided.grads, Kind::gradient, choice.dtype);
  }
  // Masters and hosts are there for the optimizer's sake.
  const bool is_plain = choice.dtype == DType::f32 && !make.on_host();
  if (is_plain && kase_.model.optimizer == model::ModelSpec::Optimizer::sgd) return;
  state.optimizer[l].m = make.zeros(choice.divided.optimizer, Kind::optimizer, DType::f32);
  state.optimizer[l].v = make.zeros(choice.divided.optimizer, Kind::optimizer, DType::f32);
}

void Harness::clear(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) {
    if (tensor) fill(tensor, 0, kNoPlace);
  }
}

Range Harness::layers_of_stage(int stage, int stages) const {
  const int layers = model().num_layers();
  if (stages > layers) {
    throw MachineFault(fmt::format("harness.cpp: {} layers are too few for {} stages", layers, stages));
  }
  if (kase_.execution.stack == nullptr) return part_of(layers, stages, stage);
  const Range blocks = part_of(layers - 2, stages, stage);
  return {stage == 0 ? 0 : blocks.begin + 1, stage + 1 == stages ? layers : blocks.end + 1};
}

std::vector<Range> Harness::layers_of_chunks(int rank, int ranks, int chunks) const {
  std::vector<Range> layers;
  layers.reserve(static_cast<std::size_t>(chunks));
  for (int c = 0; c < chunks; ++c) layers.push_back(layers_of_stage(c * ranks + rank, chunks * ranks));
  return layers;
}

Stage Harness::stage(Range layers, TrainState& state) const {
  return {model(), layers, {kase_.model.sequence, kase_.batch}, state.weights, state.grads};
}

std::vector<Stage> Harness::stages(const std::vector<Range>& chunks, TrainState& state) const {
  std::vector<Stage> stages;
  stages.reserve(chunks.size());
  for (const Range& layers : chunks) stages.push_back(stage(layers, state));
  return stages;
}

}  // namespace shardlings::submission
