// Training states: whole, divided, of some layers; on the host, and in mixed precision. And the groups and stages that
// they are made for.
#include "submission/harness.h"

#include <fmt/format.h>

#include <stdexcept>

#include "api/access.h"
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

TrainState Harness::state() {
  return state_divided(rank_.world(), {});
}

TrainState Harness::state_without_grads() {
  TrainState without = state();
  for (Tensor& grad : without.grads) grad = {};
  return without;
}

TrainState Harness::state_divided(const Group& group, Divided divided) {
  return state_of_layers({0, model().num_layers()}, group, divided);
}

TrainState Harness::state_of_layers(Range layers) {
  return state_of_layers(layers, rank_.world(), {});
}

TrainState Harness::state_of_layers(Range layers, const Group& group, Divided divided) {
  return state_of_chunks({layers}, group, divided);
}

TrainState Harness::state_of_chunks(const std::vector<Range>& chunks, const Group& group, Divided divided) {
  const auto count = static_cast<std::size_t>(model().num_layers());
  TrainState state;
  state.weights.resize(count);
  state.grads.resize(count);
  state.optimizer.resize(count);
  for (const int l : layers_inside(chunks)) {
    const auto at = static_cast<std::size_t>(l);
    const Range whole{0, model().size(l)};
    const auto held = [&](bool is_divided) { return is_divided ? group.mine(whole.size()) : whole; };
    const auto zeros = [&](bool is_divided, Kind kind) {
      Tensor tensor = rank_.zeros(held(is_divided).size(), kind, DType::f32, kNoPlace);
      mark_layer(tensor, l);
      return tensor;
    };
    state.weights[at] = weights(l, held(divided.weights));
    state.grads[at] = zeros(divided.grads, Kind::gradient);
    if (kase_.model.optimizer == model::ModelSpec::Optimizer::sgd) continue;
    state.optimizer[at].m = zeros(divided.optimizer, Kind::optimizer);
    state.optimizer[at].v = zeros(divided.optimizer, Kind::optimizer);
  }
  return state;
}

void Harness::clear(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) {
    if (tensor) fill(tensor, 0, kNoPlace);
  }
}

TrainState Harness::state_on_host(const Group& group) {
  TrainState state;
  for (int l = 0; l < model().num_layers(); ++l) {
    const Range part = group.mine(model().size(l));
    Tensor first = rank_.host_empty(part.size(), Kind::parameter, DType::f32, kNoPlace);
    copy(first, weights(l, part), kNoPlace);
    state.weights.push_back(std::move(first));
    state.grads.push_back(rank_.host_empty(part.size(), Kind::gradient, DType::f32, kNoPlace));
    OptimizerState& optimizer = state.optimizer.emplace_back();
    optimizer.m = rank_.host_zeros(part.size(), Kind::optimizer, DType::f32, kNoPlace);
    optimizer.v = rank_.host_zeros(part.size(), Kind::optimizer, DType::f32, kNoPlace);
    for (const Tensor* tensor : {&state.weights.back(), &state.grads.back(), &optimizer.m, &optimizer.v}) {
      mark_layer(*tensor, l);
    }
  }
  return state;
}

TrainState Harness::state_mixed(std::vector<Tensor>& master) {
  TrainState state;
  for (int l = 0; l < model().num_layers(); ++l) {
    const Count size = model().size(l);
    const auto make = [&](Kind kind, DType dtype) {
      Tensor tensor = rank_.zeros(size, kind, dtype, kNoPlace);
      mark_layer(tensor, l);
      return tensor;
    };
    master.push_back(weights(l));
    state.weights.push_back(make(Kind::parameter, DType::bf16));
    cast_into(state.weights.back(), master.back(), kNoPlace);
    state.grads.push_back(make(Kind::gradient, DType::bf16));
    OptimizerState& optimizer = state.optimizer.emplace_back();
    optimizer.m = make(Kind::optimizer, DType::f32);
    optimizer.v = make(Kind::optimizer, DType::f32);
  }
  return state;
}

Range Harness::layers_of_stage(int stage, int stages) const {
  const int layers = model().num_layers();
  if (stages > layers) {
    throw std::runtime_error(fmt::format("harness.cpp: {} layers are too few for {} stages", layers, stages));
  }
  return part_of(layers, stages, stage);
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
