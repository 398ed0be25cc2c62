// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What plans somebody finds who counts rightly, or makes a mistake.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "grading/formulas/checkpoint_plan.h"
#include "grading/formulas/training.h"

namespace shardlings::checkpoint_budget {

using namespace grading::formulas;
using cases::Case;
using grading::judge::Formula;
using grading::judge::named;
using PlannedLayers = std::vector<PlannedLayer>;

/// Weights, gradients, batch and loss: there before the step begins.
inline Formula<Bytes> fixed_bytes(const Case& kase) {
  const Bytes weights(weight_bytes(layer_bytes(kase)));
  return named("weights", weights) + named("gradients", weights) +
         named("batch and loss", Bytes(batch_bytes(kase) + 4));
}

/// Layers are recomputed one after another, in the order of `before`, until the rest fits. Of equal ones the lower goes
/// first.
inline CheckpointPlan greedy_plan(const PlannedLayers& layers, std::int64_t budget, auto before) {
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return before(layers[a], layers[b]); });
  CheckpointPlan plan(layers.size(), false);
  for (const std::size_t l : order) {
    if (activation_peak(layers, plan) <= budget) break;
    if (layers[l].saved > 0) plan[l] = true;
  }
  return plan;
}

inline bool larger(const PlannedLayer& a, const PlannedLayer& b) {
  return a.saved > b.saved;
}
/// Fewer operations for each byte that it sets free.
inline bool cheaper_byte(const PlannedLayer& a, const PlannedLayer& b) {
  return static_cast<double>(a.flops) * static_cast<double>(b.saved) <
         static_cast<double>(b.flops) * static_cast<double>(a.saved);
}
inline bool earlier(const PlannedLayer&, const PlannedLayer&) {
  return false;  // as they stand
}

/// Whether the plan gives up the cheapest bytes first, of equally cheap ones in some order. So it has all layers that
/// are cheaper than its dearest one, and before one of the dearest it did not fit: to give up more never needs more
/// memory.
inline bool is_simple(const PlannedLayers& layers, std::int64_t budget, const CheckpointPlan& plan) {
  const CheckpointPlan nothing(layers.size(), false);
  if (activation_peak(layers, plan) > budget || plan == nothing) return activation_peak(layers, nothing) <= budget;
  const PlannedLayer* dearest = nullptr;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (plan[l] && layers[l].saved == 0) return false;
    if (plan[l] && (!dearest || cheaper_byte(*dearest, layers[l]))) dearest = &layers[l];
  }
  bool is_last_one_needed = false;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!plan[l] && layers[l].saved > 0 && cheaper_byte(layers[l], *dearest)) return false;
    if (!plan[l] || cheaper_byte(layers[l], *dearest)) continue;
    CheckpointPlan before = plan;
    before[l] = false;
    is_last_one_needed = is_last_one_needed || activation_peak(layers, before) > budget;
  }
  return is_last_one_needed;
}

/// The operations of the best plan for these layers and this budget, as they cost in truth; none if nothing fits.
inline std::optional<std::int64_t> flops_of_best(const Case& kase, const PlannedLayers& layers, std::int64_t budget) {
  const auto plan = best_plan(layers, budget);
  return plan ? std::optional(recomputed_flops(planned_layers(kase), *plan)) : std::nullopt;
}

/// The layers if they needed other bytes than they do, as `mistake` makes them.
inline PlannedLayers layers_if(const Case& kase, auto mistake) {
  PlannedLayers layers = planned_layers(kase);
  for (std::size_t l = 0; l < layers.size(); ++l) mistake(layers[l], l + 1 == layers.size());
  return layers;
}
inline std::optional<std::int64_t> flops_if(const Case& kase, auto mistake) {
  return flops_of_best(kase, layers_if(kase, mistake), kase.integer("budget"));
}

/// The same with costs of another micro-batch: b positions and s sequences.
inline PlannedLayers layers_if_swapped(const Case& kase) {
  Case swapped = kase;
  std::swap(swapped.batch, swapped.model.sequence);
  return planned_layers(swapped);
}

/// The same without x[l] while layer l itself goes backward, or without x[0].
inline PlannedLayers layers_if_input_missing(const Case& kase, bool own) {
  PlannedLayers layers = planned_layers(kase);
  for (std::size_t l = layers.size() - 1; own && l > 0; --l) layers[l].input = layers[l - 1].input;
  layers.front().input = 0;
  return layers;
}

/// Whoever takes the layers for these finds this plan: as the best one, or by the simple order.
inline bool is_plan_for(const Case& kase, const PlannedLayers& layers, const CheckpointPlan& plan) {
  const std::int64_t budget = kase.integer("budget");
  return flops_of_best(kase, layers, budget) == recomputed_flops(planned_layers(kase), plan) ||
         is_simple(layers, budget, plan);
}

}  // namespace shardlings::checkpoint_budget
