// Judges a plan of checkpoints: numbers as without, a peak within the budget, no more operations than the best plan.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/checkpoint_plan.h"
#include "grading/formulas/training.h"
#include "plans.h"

using namespace shardlings;
using namespace shardlings::grader;
using namespace shardlings::checkpoint_budget;
using front::Event;
using front::EventKind;

namespace {

/// How often each layer ran forward.
std::vector<std::int64_t> forwards_of(const CheckContext& check) {
  std::vector<std::int64_t> forwards(planned_layers(check.kase()).size());
  for (const Event& event : check.events(0, EventKind::forward)) {
    ++forwards.at(static_cast<std::size_t>(event.label.layer));
  }
  return forwards;
}

/// The layers that ran forward a second time.
CheckpointPlan plan_of(const CheckContext& check) {
  CheckpointPlan plan;
  for (const std::int64_t times : forwards_of(check)) plan.push_back(times > 1);
  return plan;
}

bool recomputed_too_often(const CheckContext& check) {
  const std::vector<std::int64_t> forwards = forwards_of(check);
  return *std::max_element(forwards.begin(), forwards.end()) > 2;
}

std::int64_t flops_found(const CheckContext& check) {
  const PlannedLayers layers = planned_layers(check.kase());
  const std::vector<std::int64_t> forwards = forwards_of(check);
  std::int64_t flops = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) flops += (forwards[l] - 1) * layers[l].flops;
  return flops;
}

std::string names_of(const CheckpointPlan& plan) {
  std::vector<std::size_t> layers;
  for (std::size_t l = 0; l < plan.size(); ++l) {
    if (plan[l]) layers.push_back(l);
  }
  if (layers.empty()) return "no layer";
  return fmt::format("{} {}", layers.size() == 1 ? "layer" : "layers", fmt::join(layers, ", "));
}

/// All second forwards ran before the first backward.
bool recomputed_at_once(const CheckContext& check) {
  const auto forwards = check.events(0, EventKind::forward), backwards = check.events(0, EventKind::backward);
  return !backwards.empty() && forwards.size() > backwards.size() && forwards.back().order < backwards.front().order;
}

/// Some layer ran forward again before the layer above it had gone backward.
bool recomputed_too_early(const CheckContext& check) {
  const auto layers = static_cast<std::int64_t>(planned_layers(check.kase()).size());
  std::vector<int> forwards(static_cast<std::size_t>(layers));
  std::int64_t lowest = layers;  // of the layers that have gone backward
  for (const Event& event : check.trace(0).events) {
    if (event.depth > 0) continue;
    const std::int64_t l = event.label.layer;
    if (event.kind == EventKind::backward) lowest = l;
    if (event.kind != EventKind::forward || ++forwards.at(static_cast<std::size_t>(l)) != 2) continue;
    if (lowest > l + 1) return true;
  }
  return false;
}

/// After the backward of some layer that ran again there is its output beside what the plan has in memory.
bool output_kept(const CheckContext& check, const CheckpointPlan& plan) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const std::int64_t before = fixed_bytes(check.kase()).value().value();
  std::vector<std::int64_t> planned;
  std::int64_t bytes = before;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    planned.push_back(bytes + layers[l].input + layers[l].input_gradient);
    bytes += layers[l].input + (plan[l] ? 0 : layers[l].saved);
  }
  const auto backwards = check.events(0, EventKind::backward);
  return std::any_of(backwards.begin(), backwards.end(), [&](const Event& backward) {
    const auto l = static_cast<std::size_t>(backward.label.layer);
    return plan[l] && backward.live_after.value() - planned[l] >= layers[l].output;
  });
}

/// The plan fits by itself; what else is in memory?
void diagnose_training(CheckContext& check, const CheckpointPlan& plan) {
  const PlannedLayers layers = planned_layers(check.kase());
  const std::vector<LayerBytes> bytes = layer_bytes(check.kase());
  std::int64_t inputs = 0, kept = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    inputs += layers[l].input;
    kept += plan[l] ? 0 : layers[l].saved;
  }
  const std::int64_t before = fixed_bytes(check.kase()).value().value();
  const auto losses = check.events(0, EventKind::loss), backwards = check.events(0, EventKind::backward);
  if (losses.empty() || backwards.size() < layers.size()) return;
  if (losses.front().live_after.value() > before + inputs + kept + bytes.back().output) {
    return check.diagnose("saved_anyway");
  }
  const std::int64_t left = before + bytes.front().input + bytes.front().input_gradient;
  const std::int64_t excess = backwards.back().live_after.value() - left;
  if (excess >= inputs - bytes.front().input && layers.size() > 1) return check.diagnose("activations_kept");
  if (recomputed_at_once(check)) return check.diagnose("recomputed_at_once");
  if (recomputed_too_early(check)) return check.diagnose("recomputed_too_early");
  if (output_kept(check, plan)) check.diagnose("output_kept");
}

/// The plan needs more than the budget: which bytes has it left out?
void diagnose_plan(CheckContext& check, const CheckpointPlan& plan) {
  const Case& kase = check.kase();
  if (recomputed_flops(planned_layers(kase), plan) == 0) return check.diagnose("nothing_recomputed");
  const auto end_only = [](PlannedLayer& layer, bool last) {
    if (!last) layer.kept_work = layer.again_work = 0;
  };
  std::vector<const char*> mistakes;
  if (is_plan_for(kase, layers_if(kase, end_only), plan)) mistakes.push_back("middle_not_checked");
  const auto no_work = [](PlannedLayer& layer, bool) {
    layer.kept_work = layer.saved;
    layer.again_work = 0;
  };
  if (is_plan_for(kase, layers_if(kase, no_work), plan)) mistakes.push_back("work_forgotten");
  if (is_plan_for(kase, layers_if_swapped(kase), plan)) mistakes.push_back("counted_too_little");
  for (const bool own : {true, false}) {
    if (is_plan_for(kase, layers_if_input_missing(kase, own), plan)) mistakes.push_back("counted_too_little");
  }
  if (!mistakes.empty()) check.diagnose(mistakes.size() == 1 ? mistakes.front() : "counted_too_little");
}

/// The plan has just the operations that somebody finds who rounds bytes up to units of some size.
bool counts_coarsely(const Case& kase, std::int64_t flops) {
  for (std::int64_t unit = 32; unit <= 8192; unit *= 2) {
    const auto up = [&](std::int64_t& bytes) { bytes = (bytes + unit - 1) / unit * unit; };
    const auto saved = [&](PlannedLayer& layer, bool) { up(layer.saved); };
    const auto all = [&](PlannedLayer& layer, bool) {
      for (std::int64_t* bytes : {&layer.input, &layer.saved, &layer.kept_work, &layer.again_work}) up(*bytes);
    };
    if (flops_if(kase, saved) == flops || flops_if(kase, all) == flops) return true;
  }
  return false;
}

/// No plan that fits recomputes fewer layers.
bool has_fewest_layers(const Case& kase, const CheckpointPlan& plan) {
  PlannedLayers layers = planned_layers(kase);
  for (PlannedLayer& layer : layers) layer.flops = 1;
  const auto fewest = best_plan(layers, kase.integer("budget"));
  return fewest && recomputed_flops(layers, plan) == recomputed_flops(layers, *fewest);
}

/// Mistakes that lead to just these operations. Some have no name of their own: they stand for it that no other can be
/// told.
std::vector<const char*> mistakes_behind(const Case& kase, const CheckpointPlan& plan) {
  const PlannedLayers layers = planned_layers(kase);
  const std::int64_t budget = kase.integer("budget"), found = recomputed_flops(layers, plan);
  const bool is_right_order = is_simple(layers, budget, plan);
  std::vector<const char*> mistakes;
  if (plan == greedy_plan(layers, budget, larger)) mistakes.push_back("largest_first");
  if (is_right_order) mistakes.push_back("cheapest_byte_first");
  if (plan == greedy_plan(layers, budget, earlier)) mistakes.push_back("first_layers");
  const auto kept_twice = [](PlannedLayer& layer, bool) { layer.kept_work += layer.saved; };
  const auto always_twice = [&](PlannedLayer& layer, bool last) {
    kept_twice(layer, last);
    layer.again_work += layer.saved;
  };
  const auto rounded_up = [](PlannedLayer& layer, bool) { layer.saved = (layer.saved + 1023) / 1024 * 1024; };
  const auto finds = [&](auto mistake) {
    return flops_if(kase, mistake) == found || (!is_right_order && is_simple(layers_if(kase, mistake), budget, plan));
  };
  if (finds(kept_twice) || finds(always_twice) || finds(rounded_up)) {
    mistakes.push_back("counted_too_much");
  } else if (counts_coarsely(kase, found)) {
    mistakes.push_back("not_the_cheapest");
  }
  if (has_fewest_layers(kase, plan)) mistakes.push_back("not_the_cheapest");
  return mistakes;
}

/// The plan fits and costs more than the best one. `unsure` is the cause if several mistakes lead to it.
void diagnose_choice(CheckContext& check, const CheckpointPlan& plan, const char* unsure) {
  const Case& kase = check.kase();
  const PlannedLayers layers = planned_layers(kase);
  if (recomputed_too_often(check)) return check.diagnose("recomputed_too_often");
  CheckpointPlan without_last = plan;
  without_last.back() = false;
  const auto kept = std::count(without_last.begin(), without_last.end(), false);
  if (kept == 1 && layers.size() > 2) return check.diagnose("everything_recomputed");
  const auto best = best_plan(layers, kase.integer("budget"));
  if (plan.back() && best && recomputed_flops(layers, without_last) == recomputed_flops(layers, *best)) {
    return check.diagnose("last_layer_recomputed");
  }
  if (best && activation_peak(layers, *best) == kase.integer("budget")) {
    check.detail("the best plan needs the budget to the last byte");
  }
  const std::vector<const char*> mistakes = mistakes_behind(kase, plan);
  check.diagnose(mistakes.size() == 1 ? mistakes.front() : unsure);
}

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  const std::optional<double> ratio = constant_ratio(found_layers(check.result(), "grads"), check.reference().grads);
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.batch * kase.model.sequence);
  if (tokens < targets && near(ratio, tokens / targets)) check.diagnose("padding_counted");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_output(check);
  const std::int64_t updates = count_of(check, EventKind::update);
  const Formula<Count> layers = Letters(check.kase()).l;
  if (!check.exactly("update calls", updates, layers, "calls", check.place_of_first(0, EventKind::update))) {
    if (updates > layers.value()) check.diagnose("updated_in_the_hole");
    return;
  }
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_output(check);
  check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
}

SHARDLINGS_CHECK(memory) {
  const Case& kase = check.kase();
  const std::int64_t budget = kase.integer("budget");
  if (!nothing_on_host(check)) return;
  if (check.peaks_at_most(fixed_bytes(kase) + named("budget", Bytes(budget)))) return;
  const CheckpointPlan plan = plan_of(check);
  const std::int64_t needed = activation_peak(planned_layers(kase), plan);
  check.detail(fmt::format("computed again: {}; that plan needs {} bytes", names_of(plan), needed));
  if (recomputed_too_often(check)) return check.diagnose("recomputed_too_often");
  return needed > budget ? diagnose_plan(check, plan) : diagnose_training(check, plan);
}

/// The first forward that the best plan does not have.
Place place_beyond_plan(const CheckContext& check, const CheckpointPlan& best) {
  std::vector<int> runs(best.size());
  for (const Event& event : check.events(0, EventKind::forward)) {
    const auto l = static_cast<std::size_t>(event.label.layer);
    if (++runs.at(l) > (best[l] ? 2 : 1)) return place_of(event);
  }
  return check.place_of_last(0, EventKind::forward);
}

/// The second forwards of the run have at most the operations of this plan's.
bool repeats_at_most(CheckContext& check, const std::string& name, const CheckpointPlan& most, const char* unsure) {
  const PlannedLayers layers = planned_layers(check.kase());
  if (check.at_most("operations of second forwards", Flops(flops_found(check)),
                    named(name, Flops(recomputed_flops(layers, most))), place_beyond_plan(check, most))) {
    return true;
  }
  const CheckpointPlan plan = plan_of(check);
  check.detail(fmt::format("computed again: {}; that plan needs {} of {} bytes", names_of(plan),
                           activation_peak(layers, plan), check.kase().integer("budget")));
  diagnose_choice(check, plan, unsure);
  return false;
}

/// The plan fits with every x[l] in memory, as the lesson reckons. Memory that is given, such as the gradients that are
/// still zero, would be room for activations beside the budget, and then no plan is dear.
bool plan_fits(CheckContext& check) {
  const Case& kase = check.kase();
  const CheckpointPlan plan = plan_of(check);
  const Bytes needed(activation_peak(planned_layers(kase), plan));
  if (check.at_most("activations of this plan, every x[l] in memory", needed,
                    named("budget", Bytes(kase.integer("budget"))), check.place_of_first(0, EventKind::backward))) {
    return true;
  }
  check.detail(fmt::format("computed again: {}", names_of(plan)));
  check.diagnose("inputs_elsewhere");
  return false;
}

SHARDLINGS_CHECK(recompute) {
  const Case& kase = check.kase();
  if (!plan_fits(check)) return;
  const PlannedLayers layers = planned_layers(kase);
  const std::int64_t budget = kase.integer("budget");
  const CheckpointPlan plan = plan_of(check);
  // Of equally cheap bytes nothing says which go first.
  const CheckpointPlan simple = is_simple(layers, budget, plan) ? plan : greedy_plan(layers, budget, cheaper_byte);
  // Where this cannot tell which mistake it was, the best plan may, on another case.
  if (!repeats_at_most(check, "giving up the cheapest bytes first", simple, "")) return;
  check.exactly("backward calls", check.counters(0).layer_backwards, Letters(kase).l, "calls",
                check.place_of_last(0, EventKind::backward));
}

SHARDLINGS_CHECK(best_plan) {
  const Case& kase = check.kase();
  const auto best = best_plan(planned_layers(kase), kase.integer("budget"));
  if (!best) throw std::logic_error("puzzle.toml: no plan fits the budget of this case");
  repeats_at_most(check, "the best of all plans that fit the budget", *best, "not_the_cheapest");
}
