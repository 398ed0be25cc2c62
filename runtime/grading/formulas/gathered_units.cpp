#include "grading/formulas/gathered_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"

namespace shardlings::grading::formulas {
namespace {

using front::Collective;
using front::Event;
using front::EventKind;

/// What should be alive when a call of forward or backward of layer l has ended: in the first step.
std::int64_t planned_after(const cases::Case& node, int rank, EventKind kind, std::size_t l) {
  const std::vector<LayerBytes> layers = layer_bytes(node);
  const bool forward = kind == EventKind::forward;
  const StepPeak there = step_peak(node, rank % node.ranks, 3);
  std::int64_t bytes = there.weights + there.gradients + there.optimizer + there.batch +
                       (forward ? layers[l].output : layers[l].input_gradient);
  for (std::size_t i = 0; i <= l; ++i) bytes += layers[i].input + (forward || i < l ? layers[i].saved : 0);
  bytes += layers[l].weights + weights_at(layers, forward ? l + 1 : l - 1);
  return bytes + (forward ? 0 : layers[l].weights + weights_at(layers, l + 1));
}

/// Bytes beyond what is needed after the first such call of layer l.
std::int64_t excess_after(const judge::CheckContext& check, const cases::Case& node, int rank, EventKind kind,
                          std::size_t l) {
  for (const Event& event : check.events(rank, kind)) {
    if (event.label.layer != static_cast<std::int32_t>(l)) continue;
    return event.live_after.value() - planned_after(node, rank, kind, l);
  }
  return 0;
}

/// Sums over layers of what is too much in typical mistakes.
struct Excesses {
  std::int64_t above = 0;   ///< weights of layers 2 and up
  std::int64_t below = 0;   ///< weights of all layers but the last
  std::int64_t inputs = 0;  ///< inputs of layers 1 and up
  explicit Excesses(const std::vector<LayerBytes>& layers) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      above += l >= 2 ? layers[l].weights : 0;
      below += l + 1 < layers.size() ? layers[l].weights : 0;
      inputs += l >= 1 ? layers[l].input : 0;
    }
  }
};

}  // namespace

bool holds_two_units_in_forward(judge::CheckContext& check, const cases::Case& node, int rank) {
  const auto layers = static_cast<std::size_t>(number_of_layers(node));
  std::size_t worst = 0;
  std::int64_t excess = excess_after(check, node, rank, EventKind::forward, 0);
  for (std::size_t l = 1; l < layers; ++l) {
    const std::int64_t here = excess_after(check, node, rank, EventKind::forward, l);
    if (here > excess) worst = l;
    excess = std::max(excess, here);
  }
  wire::Place where;
  for (const Event& event : check.events(rank, EventKind::forward)) {
    if (event.label.layer != static_cast<std::int32_t>(worst)) continue;
    where = {std::string(base_name(event.at.file)), event.at.line};
    break;
  }
  const std::vector<LayerBytes> bytes = layer_bytes(node);
  const StepPeak there = step_peak(node, rank % node.ranks, 3);
  const std::int64_t planned = planned_after(node, rank, EventKind::forward, worst);
  const std::int64_t parts = there.weights + there.gradients + there.optimizer;
  const std::int64_t units = bytes[worst].weights + weights_at(bytes, worst + 1);
  const judge::Formula<Bytes> budget = judge::named("parts", Bytes(parts)) +
                                       judge::named("batch and loss", Bytes(there.batch)) +
                                       judge::named("activations", Bytes(planned - parts - there.batch - units)) +
                                       judge::named("two units of weights", Bytes(units));
  return check.at_most(fmt::format("memory of {} after forward of layer {}", check.name_of(rank), worst),
                       budget.value() + Bytes(excess), budget, where);
}

void diagnose_unit_memory(judge::CheckContext& check, const cases::Case& node, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(node);
  const Excesses typical(layers);
  const std::int64_t at_start = excess_after(check, node, rank, EventKind::forward, 0);
  if (layers.size() > 3 && at_start >= typical.above) return check.diagnose("gathered_at_once");
  if (at_start > 0) return check.diagnose("prefetched_too_far");
  const std::int64_t at_turn = excess_after(check, node, rank, EventKind::forward, layers.size() - 1);
  if (at_turn >= typical.below) return check.diagnose("not_resharded");
  const std::int64_t at_end = excess_after(check, node, rank, EventKind::backward, 0);
  if (at_end == typical.inputs) return check.diagnose("activations_kept");
  if (at_end >= typical.above && typical.above > 0) {
    const auto gradient = static_cast<std::size_t>(Kind::gradient);
    const std::int64_t part = sum_of(part_bytes(node, rank % node.ranks));
    const bool gradients = check.counters(rank).peak_by_kind[gradient].value() >= part + typical.above;
    return check.diagnose(gradients ? "gradients_kept" : "not_resharded_in_backward");
  }
  if (at_end > 0) check.diagnose("third_unit");
}

std::string unit_time_mistake(const judge::CheckContext& check, int rank) {
  const auto forwards = check.events(rank, EventKind::forward);
  const auto backwards = check.events(rank, EventKind::backward);
  const auto gathers = collectives(check, rank, Collective::all_gather);
  if (!overlaps(gathers, forwards)) return "not_prefetched_in_forward";
  if (!overlaps(gathers, backwards)) return "not_prefetched_in_backward";
  const auto scatters = collectives(check, rank, Collective::reduce_scatter);
  return overlaps(scatters, backwards) ? "" : "reduce_waited_at_once";
}

}  // namespace shardlings::grading::formulas
