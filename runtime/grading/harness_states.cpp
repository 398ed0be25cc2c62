// Training states in other places and types than those of the layers: on the host, and in mixed precision.
#include "api/access.h"
#include "grading/harness.h"

namespace shardlings::grading {

using detail::kNoPlace;

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

}  // namespace shardlings::grading
