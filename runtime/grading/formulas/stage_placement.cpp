#include "grading/formulas/stage_placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/parts.h"
#include "model/flops.h"

namespace shardlings::grading::formulas {
namespace {

std::int64_t sum_in(const std::vector<std::int64_t>& numbers, Range layers) {
  return std::accumulate(numbers.begin() + layers.begin, numbers.begin() + layers.end, std::int64_t{0});
}

bool takes(const PlacementRules& rules, Count r, Range layers, std::int64_t most) {
  return rules.work_of(layers) <= most && rules.needed_on(r, layers) <= rules.memory;
}

/// From the last stage on, each takes layers as long as it fits and has no more operations than `most`; one at least.
Stages filled_from_behind(const PlacementRules& rules, std::int64_t most) {
  Stages stages(rules.in_flight.size());
  Count end = std::ssize(rules.work);
  for (Count r = std::ssize(stages) - 1; r >= 0; --r) {
    Count begin = end - 1;
    while (begin > r && takes(rules, r, {begin - 1, end}, most)) --begin;  // the stages before it have a layer each
    stages[static_cast<std::size_t>(r)] = {begin, end};
    end = begin;
  }
  return stages;
}

/// The same from the first stage on; the last one takes what is left.
Stages filled_from_the_front(const PlacementRules& rules, std::int64_t most) {
  const Count p = std::ssize(rules.in_flight), layers = std::ssize(rules.work);
  Stages filled;
  for (Count r = 0, begin = 0; r < p; ++r, begin = filled.back().end) {
    filled.push_back({begin, begin + 1});
    Count& end = filled.back().end;  // the stages after it have a layer each
    while (end < layers - (p - r - 1) && (r + 1 == p || takes(rules, r, {begin, end + 1}, most))) ++end;
  }
  return filled;
}

std::vector<StageTime> times_of(const cases::Case& kase, const Stages& stages) {
  const std::vector<model::LayerStructure> layers = model::make_structure(kase.model).layers;
  const Count tokens = kase.model.sequence * kase.batch;
  std::vector<StageTime> times;
  for (const Range& stage : stages) {
    StageTime& both = times.emplace_back();
    for (Count l = stage.begin; l < stage.end; ++l) {
      const model::LayerStructure& layer = layers[static_cast<std::size_t>(l)];
      both.forward += Nanos(model::forward_flops(layer, tokens, kase.batch).value());
      both.backward += Nanos(model::backward_flops(layer, tokens, kase.batch).value());
    }
  }
  times.back().backward += Nanos(model::loss_flops(kase.model.outputs, tokens).value());
  return times;
}

}  // namespace

std::int64_t PlacementRules::work_of(Range layers) const {
  return sum_in(work, layers);
}

std::int64_t PlacementRules::needed_on(Count r, Range layers) const {
  return sum_in(states, layers) + in_flight[static_cast<std::size_t>(r)] * sum_in(kept, layers);
}

std::int64_t PlacementRules::slowest_of(const Stages& stages) const {
  std::int64_t slowest = 0;
  for (const Range& layers : stages) slowest = std::max(slowest, work_of(layers));
  return slowest;
}

bool PlacementRules::fit(const Stages& stages) const {
  Count r = 0;
  return std::all_of(stages.begin(), stages.end(), [&](Range own) { return needed_on(r++, own) <= memory; });
}

PlacementRules placement_rules(const cases::Case& kase) {
  PlacementRules rules;
  for (const model::LayerStructure& layer : model::make_structure(kase.model).layers) {
    rules.work.push_back(model::forward_flops(layer, kase.model.sequence * kase.batch, kase.batch).value());
  }
  for (const LayerBytes& layer : layer_bytes(kase)) {
    rules.states.push_back(2 * layer.weights);
    rules.kept.push_back(layer.input + layer.saved);
  }
  for (int r = 0; r < kase.ranks; ++r) rules.in_flight.push_back(std::min(kase.ranks - r, kase.micro_batches));
  rules.memory = kase.integer("memory");
  return rules;
}

// What fits on a stage fits on every later one: so stages that are filled up from behind reach layer 0 if any others
// do, and bisection finds the smallest number of operations with which they do. From the front a stage could leave the
// next one a layer that is too large.
Stages best_stages(const PlacementRules& rules) {
  const auto reaches = [&](std::int64_t most) {
    const Stages stages = filled_from_behind(rules, most);
    return stages.front().begin == 0 && rules.fit(stages) && rules.slowest_of(stages) <= most;
  };
  std::int64_t below = -1, most = rules.work_of({0, std::ssize(rules.work)});
  if (!reaches(most)) return {};
  while (most - below > 1) {
    const std::int64_t middle = below + (most - below) / 2;
    (reaches(middle) ? most : below) = middle;
  }
  return filled_from_behind(rules, most);
}

double placements_within(const PlacementRules& rules, std::int64_t most) {
  const Count layers = std::ssize(rules.work);
  std::vector<double> ways(static_cast<std::size_t>(layers) + 1);  // of the first layers, so many, on the stages so far
  ways[0] = 1;
  for (Count r = 0; r < std::ssize(rules.in_flight); ++r) {
    std::vector<double> next(ways.size());
    for (Count end = 1; end <= layers; ++end) {
      for (Count begin = end - 1; begin >= 0 && takes(rules, r, {begin, end}, most); --begin) {
        next[static_cast<std::size_t>(end)] += ways[static_cast<std::size_t>(begin)];
      }
    }
    ways = next;
  }
  return ways.back();
}

double all_placements(const PlacementRules& rules) {
  PlacementRules free = rules;
  free.memory = std::numeric_limits<std::int64_t>::max();
  return placements_within(free, std::numeric_limits<std::int64_t>::max());
}

Stages filled_up(const PlacementRules& rules) {
  return filled_from_the_front(rules, rules.work_of({0, std::ssize(rules.work)}) / std::ssize(rules.in_flight));
}

std::vector<Stages> filled_with_memory(const PlacementRules& rules) {
  constexpr std::int64_t kAnyWork = std::numeric_limits<std::int64_t>::max();
  Stages from_behind = filled_from_behind(rules, kAnyWork);
  from_behind.front().begin = 0;
  return {filled_from_the_front(rules, kAnyWork), from_behind};
}

Stages equal_stages(Count layers, int p) {
  Stages stages;
  for (int r = 0; r < p; ++r) stages.push_back(part_of(layers, p, r));
  return stages;
}

Order one_f_one_b(const cases::Case& kase, int rank) {
  const Pipeline pipeline{kase.ranks, kase.micro_batches, 1, {}};
  return order_of(pipeline, one_f_one_b_warm_up(pipeline, rank));
}

Nanos estimate_of_1f1b(const cases::Case& kase, const Stages& stages) {
  Nanos way, slowest;
  for (const StageTime& stage : times_of(kase, stages)) {
    way += stage.forward + stage.backward;
    slowest = std::max(slowest, stage.forward + stage.backward);
  }
  return way + (kase.micro_batches - 1) * slowest;
}

Nanos end_of_1f1b(const cases::Case& kase, const Stages& stages) {
  std::vector<Order> orders;
  for (int rank = 0; rank < kase.ranks; ++rank) orders.push_back(one_f_one_b(kase, rank));
  return end_along({kase.ranks, kase.micro_batches, 1, {}}, orders, times_of(kase, stages));
}

}  // namespace shardlings::grading::formulas
