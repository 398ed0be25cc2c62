/// \file
/// Which layers to recompute so that a step fits a budget of memory and costs least: formulas and the optimum.
///
/// A plan says for each layer whether its Saved is kept from the forward pass, or dropped and made again right before
/// the layer's backward. Inputs x[l] are kept until layer l has gone backward. While backward of layer l runs there are
/// the inputs of layers 0 to l, what is kept of the layers below l, and what layer l's own calls hold, so that
///
///   peak = max over l of ( inputs of layers 0 to l + Saved of the kept ones below l + work of layer l )
///
/// The first forward pass and the loss need less. Korthikanti et al. 2022 (section 5) choose within a layer by the same
/// trade; choosing layers under a budget is a knapsack problem, as in PyTorch's activation_memory_budget.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "case/case.h"

namespace shardlings::grading::formulas {

/// A layer as a plan sees it: bytes, and the operations of one forward.
struct PlannedLayer {
  std::int64_t input = 0;
  std::int64_t saved = 0;
  std::int64_t kept_work = 0;   ///< most that its calls hold in the backward pass, its Saved included, if that was kept
  std::int64_t again_work = 0;  ///< the same if it is made again
  std::int64_t flops = 0;
};

/// By layer: true if it is recomputed.
using CheckpointPlan = std::vector<bool>;

std::vector<PlannedLayer> planned_layers(const cases::Case& kase);
/// Bytes of activations at the peak.
std::int64_t activation_peak(const std::vector<PlannedLayer>& layers, const CheckpointPlan& plan);
std::int64_t recomputed_flops(const std::vector<PlannedLayer>& layers, const CheckpointPlan& plan);
/// A plan with the fewest recomputed operations among those that fit; none if nothing fits. By dynamic programming over
/// the layers from below, whose state is the number of bytes kept so far.
std::optional<CheckpointPlan> best_plan(const std::vector<PlannedLayer>& layers, std::int64_t budget);

}  // namespace shardlings::grading::formulas
