#include "grading/formulas/checkpoint_plan.h"

#include <algorithm>
#include <map>

#include "model/flops.h"
#include "model/memory.h"

namespace shardlings::grading::formulas {
namespace {

std::int64_t work_of(const PlannedLayer& layer, bool again) {
  return again ? layer.again_work : layer.kept_work;
}

/// The cheapest choice for the layers so far, among those that keep equally many bytes.
struct Choice {
  std::int64_t flops = 0;
  CheckpointPlan plan;
};
using Choices = std::map<std::int64_t, Choice>;  // by bytes kept

void consider(Choices& choices, std::int64_t kept, Choice choice, const PlannedLayer& layer, bool again) {
  choice.plan.push_back(again);
  if (again) choice.flops += layer.flops;
  const auto [at, is_new] = choices.try_emplace(kept, choice);
  if (!is_new && choice.flops < at->second.flops) at->second = std::move(choice);
}

}  // namespace

std::vector<PlannedLayer> planned_layers(const cases::Case& kase) {
  const Count tokens = kase.model.sequence * kase.batch;
  std::vector<PlannedLayer> layers;
  for (const model::LayerStructure& structure : model::make_structure(kase.model).layers) {
    PlannedLayer layer;
    layer.input = model::input_bytes(structure, tokens).value();
    layer.saved = model::saved_bytes(structure, tokens, kase.batch).value();
    layer.kept_work = model::backward_peak(structure, tokens, kase.batch).value();
    // The gradient of the output waits while the output is made again.
    const Bytes making =
        model::forward_peak(structure, tokens, kase.batch, true) + model::output_bytes(structure, tokens);
    layer.again_work = std::max(layer.kept_work, making.value());
    layer.flops = model::forward_flops(structure, tokens, kase.batch).value();
    layers.push_back(layer);
  }
  return layers;
}

std::int64_t activation_peak(const std::vector<PlannedLayer>& layers, const CheckpointPlan& plan) {
  std::int64_t inputs = 0, kept = 0, peak = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    inputs += layers[l].input;
    peak = std::max(peak, inputs + kept + work_of(layers[l], plan[l]));
    if (!plan[l]) kept += layers[l].saved;
  }
  return peak;
}

std::int64_t recomputed_flops(const std::vector<PlannedLayer>& layers, const CheckpointPlan& plan) {
  std::int64_t flops = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) flops += plan[l] ? layers[l].flops : 0;
  return flops;
}

std::optional<CheckpointPlan> best_plan(const std::vector<PlannedLayer>& layers, std::int64_t budget) {
  Choices choices{{0, {}}};
  std::int64_t inputs = 0;
  for (const PlannedLayer& layer : layers) {
    inputs += layer.input;
    Choices next;
    for (const auto& [kept, choice] : choices) {
      if (inputs + kept + layer.kept_work <= budget) consider(next, kept + layer.saved, choice, layer, false);
      if (inputs + kept + layer.again_work <= budget) consider(next, kept, choice, layer, true);
    }
    choices = std::move(next);
  }
  const auto cheapest = std::min_element(choices.begin(), choices.end(),
                                         [](const auto& a, const auto& b) { return a.second.flops < b.second.flops; });
  if (cheapest == choices.end()) return std::nullopt;
  return cheapest->second.plan;
}

}  // namespace shardlings::grading::formulas
