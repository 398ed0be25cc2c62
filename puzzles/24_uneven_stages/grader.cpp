// Judges stages of unequal layers: one device's numbers, stages that fit, the slowest one against the best placement,
// and 1F1B on them.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "base/text.h"
#include "grading/formulas/stage_placement.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

/// The stages that the ranks really had, as their calls of the model show them.
Stages stages_found(const CheckContext& check) {
  Stages stages;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    Range layers{number_of_layers(check.kase()), 0};
    for (const Event& event : check.events(rank, EventKind::forward)) {
      layers.begin = std::min<Count>(layers.begin, event.label.layer);
      layers.end = std::max<Count>(layers.end, event.label.layer + 1);
    }
    stages.push_back(layers);
  }
  return stages;
}

// ---- What somebody may have gone by ----

/// A way to go by other rules than the judge's. One without an id has no name of its own, and stands against the
/// others.
struct Mistake {
  const char* id;
  PlacementRules rules;
  bool of_memory = false;  ///< it leaves out some of what a stage needs
};

PlacementRules with_flight(PlacementRules rules, const std::function<std::int64_t(std::int64_t r)>& in_flight) {
  for (std::int64_t r = 0; std::int64_t & number : rules.in_flight) number = in_flight(r++);
  return rules;
}

/// Of each weight so many bytes, and of each micro-batch in flight these of the layer.
PlacementRules with_bytes(const Case& kase, std::int64_t of_weight,
                          const std::function<std::int64_t(const LayerBytes&)>& kept) {
  PlacementRules rules = placement_rules(kase);
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    rules.states[l] = of_weight * layers[l].weights / kBytesOfF32;
    rules.kept[l] = kept(layers[l]);
  }
  return rules;
}

/// Work and memory as the cost says with sequence and batch in each other's place, in all queries or in those of one of
/// the two.
std::vector<Mistake> with_shape_swapped(const Case& kase) {
  Case swapped = kase;
  std::swap(swapped.model.sequence, swapped.batch);
  const PlacementRules both = placement_rules(swapped);
  PlacementRules work = placement_rules(kase), memory = work;
  work.work = both.work;
  memory.kept = both.kept;
  return {{"shape_swapped", both}, {"shape_swapped", work}, {"shape_swapped", memory}};
}

/// A stage must need less than there is.
PlacementRules without_the_last_byte(PlacementRules rules) {
  --rules.memory;
  return rules;
}

/// The same work, and no limit of memory.
PlacementRules without_limit(PlacementRules rules) {
  rules.memory = std::numeric_limits<std::int64_t>::max();
  return rules;
}

/// What leaves something out of the memory, so that stages do not fit.
std::vector<Mistake> mistakes_of_memory(const Case& kase) {
  const PlacementRules right = placement_rules(kase);
  const std::int64_t p = kase.ranks, m = kase.micro_batches;
  const auto kept = [](const LayerBytes& layer) { return layer.input + layer.saved; };
  std::vector<Mistake> mistakes = {
      {"memory_ignored", without_limit(right)},
      {"gradients_forgotten", with_bytes(kase, 4, kept)},
      {"one_in_flight", with_flight(right, [](auto) { return 1; })},
      {"own_forward_forgotten", with_flight(right, [&](auto r) { return std::min(p - r - 1, m); })},
      {"kept_in_part", with_flight(right, [](auto) { return 0; })},
      {"", with_flight(right, [&](auto r) { return std::min(r + 1, m); })},
      {"weights_forgotten", with_bytes(kase, 0, kept)},
      {"weights_forgotten", with_bytes(kase, 1, kept)},
      {"weights_forgotten", with_bytes(kase, 2, kept)},
      {"kept_in_part", with_bytes(kase, 8, [](const LayerBytes& layer) { return layer.input; })},
      {"kept_in_part", with_bytes(kase, 8, [](const LayerBytes& layer) { return layer.saved; })},
      {"kept_in_part", with_bytes(kase, 8, [](const LayerBytes& layer) { return layer.output; })}};
  for (Mistake& mistake : mistakes) mistake.of_memory = true;
  return mistakes;
}

/// What counts too much memory, so that stages fit and are slower than they need be.
std::vector<Mistake> mistakes_of_caution(const Case& kase) {
  const PlacementRules right = placement_rules(kase);
  const std::int64_t p = kase.ranks, m = kase.micro_batches;
  const auto kept = [](const LayerBytes& layer) { return layer.input + layer.saved; };
  const auto with_work = [&](auto held) {
    return with_bytes(kase, 8, [&](const LayerBytes& layer) { return kept(layer) + held(layer); });
  };
  return {{"more_than_there_are", with_flight(right, [&](auto r) { return p - r; })},
          {"full_stage_refused", without_the_last_byte(right)},
          {"", with_flight(right, [&](auto) { return std::min(p, m); })},
          {"", with_flight(right, [&](auto) { return m; })},
          {"", with_flight(right, [&](auto r) { return std::min(p - r + 1, m); })},
          {"", with_flight(right, [&](auto r) { return std::min(p - r, m) + 1; })},
          {"", with_bytes(kase, 12, kept)},
          {"", with_bytes(kase, 16, kept)},
          {"", with_work([](const LayerBytes& layer) { return layer.output; })},
          {"", with_work([](const LayerBytes& layer) { return layer.forward; })},
          {"", with_work([](const LayerBytes& layer) { return layer.backward; })}};
}

/// What counts other work than there is, and the memory as it is.
std::vector<Mistake> mistakes_of_work(const Case& kase) {
  const PlacementRules right = placement_rules(kase);
  PlacementRules by_weights = right, ends_free = right, by_number = right, last_free = right, by_bytes = right;
  by_weights.work = right.states;
  ends_free.work.front() = ends_free.work.back() = 0;
  last_free.work.back() = 0;
  by_number.work.assign(right.work.size(), 1);
  for (std::size_t l = 0; l < right.work.size(); ++l) by_bytes.work[l] = right.states[l] + right.kept[l];
  return {{"balanced_weights", by_weights},
          {"ends_forgotten", ends_free},
          {"ends_forgotten", last_free},
          {"ends_forgotten", by_number},
          {"", by_bytes}};
}

/// The stages are among the best by these rules: they fit, and none that fit have a faster slowest stage. All
/// placements are asked: best_stages() wants rules by which a later stage needs no more than an earlier one.
bool goes_by(const PlacementRules& rules, const Stages& stages) {
  return rules.fit(stages) && placements_within(rules, rules.slowest_of(stages) - 1) == 0;
}

/// Ways to place layers that go by no rules of this kind.
std::vector<Suspect> other_ways_to(const Case& kase, const Stages& stages) {
  const PlacementRules right = placement_rules(kase);
  const std::vector<Stages> by_memory = filled_with_memory(right);
  const double chance = 1 / all_placements(right);
  std::vector<Suspect> ways;
  if (stages == equal_stages(number_of_layers(kase), kase.ranks)) {
    ways.push_back({"equally_many", "equally_many", chance, "ends_forgotten"});
  }
  if (stages == filled_up(right)) ways.push_back({"filled_up", "filled_up", chance});
  for (std::size_t way = 0; way < by_memory.size(); ++way) {
    if (stages == by_memory[way]) ways.push_back({fmt::format("by memory {}", way), "memory_filled", chance});
  }
  return ways;
}

/// Suspects all mistakes that lead to these stages. Others come to them by chance, as often as the stages are among the
/// best by the mistake's rules. Where no limit at all leads to them, so do most mistakes in what is counted of the
/// memory: memory_ignored says all of that.
void suspect_mistakes(CheckContext& check, const Stages& stages, const std::vector<Mistake>& mistakes) {
  const double all = all_placements(placement_rules(check.kase()));
  std::vector<Suspect> suspects = other_ways_to(check.kase(), stages);
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    const auto& [id, rules, of_memory] = mistakes[i];
    if (!goes_by(rules, stages)) continue;
    const double chance = placements_within(rules, rules.slowest_of(stages)) / all;
    suspects.push_back({std::to_string(i), id, chance, of_memory ? "memory_ignored" : ""});
  }
  check.suspect(suspects);
}

/// What a stage needs, as the sum that a learner's program has to come to.
std::string needed_text(const Case& kase, const PlacementRules& rules, int r, Range own) {
  std::int64_t weights = 0, kept = 0;
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  for (auto l = static_cast<std::size_t>(own.begin); l < static_cast<std::size_t>(own.end); ++l) {
    weights += layers[l].weights / kBytesOfF32;
    kept += rules.kept[l];
  }
  return fmt::format("{} = 8 * {} weights, each with its gradient, + {} in flight * {} bytes of a micro-batch",
                     rules.needed_on(r, own), weights, rules.in_flight[static_cast<std::size_t>(r)], kept);
}

std::string text_of(const Stages& stages) {
  std::vector<std::string> texts;
  for (const Range& layers : stages) texts.push_back(fmt::format("[{}, {})", layers.begin, layers.end));
  return fmt::format("the stages are {}", fmt::join(texts, " "));
}

// ---- 1F1B on uneven stages ----

/// What a rank did: its stage forward or backward with a micro-batch, one after another.
Order order_found(const CheckContext& check, int rank, Range stage) {
  Order order;
  for (const Event& event : check.trace(rank).events) {
    const bool forward = event.kind == EventKind::forward;
    if (event.depth > 0 || (!forward && event.kind != EventKind::backward)) continue;
    if (event.label.layer == (forward ? stage.begin : stage.end - 1)) order.push_back({forward, event.label.micro, 0});
  }
  return order;
}

/// Two neighbours do not go backward with the micro-batches in the same order: a gradient meets another one's
/// activations.
bool find_mispaired(CheckContext& check, const Stages& stages) {
  std::vector<Order> backwards;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    backwards.push_back(order_found(check, rank, stages[static_cast<std::size_t>(rank)]));
    std::erase_if(backwards.back(), [](const Slot& slot) { return slot.forward; });
    if (backwards.back() == backwards.front()) continue;
    check.detail(
        fmt::format("{} goes backward with the micro-batches in another order than rank 0", check.name_of(rank)));
    return true;
  }
  return false;
}

void diagnose_in_flight(CheckContext& check, const Stages& stages, int rank) {
  const int last = check.ranks() - 1, m = check.kase().micro_batches;
  const Order found = order_found(check, rank, stages[static_cast<std::size_t>(rank)]);
  if (leading_forwards(found) <= std::min(check.ranks() - rank, m)) return;
  const bool all_forward = leading_forwards(order_found(check, last, stages.back())) == m && m > 2;
  check.diagnose(all_forward ? "all_forward_first" : "warm_up_too_long");
}

void diagnose_time(CheckContext& check, const Stages& stages) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Order found = order_found(check, rank, stages[static_cast<std::size_t>(rank)]);
    const int forwards = leading_forwards(found);
    if (forwards >= leading_forwards(one_f_one_b(check.kase(), rank))) continue;
    check.detail(fmt::format("{} goes forward {} before its first backward", check.name_of(rank),
                             amount_text(forwards, Unit::count, "times")));
    return check.diagnose(rank == 0 && most_in_flight(found) == 1 ? "one_at_a_time" : "warm_up_too_short");
  }
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) {
    if (!check.is_nearly_right() && find_mispaired(check, stages_found(check))) check.diagnose("wrong_micro_batch");
    return;
  }
  std::vector<double> shares(static_cast<std::size_t>(check.ranks()), 0);
  shares.back() = expected.loss;
  check.equal("loss by rank", shares, expected.loss_tolerance);
}

SHARDLINGS_CHECK(fits) {
  const Case& kase = check.kase();
  const PlacementRules rules = placement_rules(kase);
  const Stages stages = stages_found(check);
  for (int r = 0; r < check.ranks(); ++r) {
    const std::string what = "weights, gradients and micro-batches in flight on " + check.name_of(r);
    const Bytes needed(rules.needed_on(r, stages[static_cast<std::size_t>(r)]));
    if (check.at_most(what, needed, named("memory", Bytes(rules.memory)))) continue;
    check.detail(needed_text(kase, rules, r, stages[static_cast<std::size_t>(r)]));
    check.detail(text_of(stages));
    std::vector<Mistake> mistakes = mistakes_of_memory(kase);
    for (const Mistake& mistake : mistakes_of_work(kase)) {
      if (mistake.id != std::string("ends_forgotten")) mistakes.push_back({mistake.id, without_limit(mistake.rules)});
    }
    std::ranges::move(with_shape_swapped(kase), std::back_inserter(mistakes));
    mistakes.push_back(mistakes_of_work(kase).front());  // and the memory as well
    mistakes.back().rules.in_flight.assign(mistakes.back().rules.in_flight.size(), 1);
    return suspect_mistakes(check, stages, mistakes);
  }
}

SHARDLINGS_CHECK(placement) {
  const PlacementRules rules = placement_rules(check.kase());
  const Stages best = best_stages(rules), stages = stages_found(check);
  if (best.empty()) throw std::logic_error("puzzle.toml: no placement fits the memory of this case");
  const Formula<Flops> budget = named("the best of all placements that fit", Flops(rules.slowest_of(best)));
  if (check.at_most("operations of the slowest stage's forward", Flops(rules.slowest_of(stages)), budget)) return;
  check.detail(text_of(stages));
  std::vector<Mistake> mistakes = mistakes_of_work(check.kase());
  std::ranges::move(mistakes_of_caution(check.kase()), std::back_inserter(mistakes));
  std::ranges::move(with_shape_swapped(check.kase()), std::back_inserter(mistakes));
  suspect_mistakes(check, stages, mistakes);
}

SHARDLINGS_CHECK(in_flight) {
  const Stages stages = stages_found(check);
  const Pipeline pipeline{check.ranks(), check.kase().micro_batches, 1, {}};
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Range own = stages[static_cast<std::size_t>(rank)];
    const std::int64_t found = (check.counters(rank).saved_peak + own.size() - 1) / own.size();
    if (check.at_most("in flight on " + check.name_of(rank), found, one_f_one_b_in_flight(pipeline, rank),
                      "micro-batches", check.place_of_first(rank, EventKind::forward))) {
      continue;
    }
    return diagnose_in_flight(check, stages, rank);
  }
}

SHARDLINGS_CHECK(time) {
  const Stages stages = stages_found(check);
  const int rank = check.slowest_rank();
  const Nanos end = end_of_1f1b(check.kase(), stages);
  const std::string what = "virtual time of " + check.name_of(rank);
  if (check.at_most(what, check.end_time(rank), named("1F1B with these stages", end))) return;
  check.detail(
      fmt::format("that is worked out along the order of 1F1B, call by call; the lesson's estimate, {}, is no limit",
                  to_text(estimate_of_1f1b(check.kase(), stages))));
  diagnose_time(check, stages);
}

SHARDLINGS_PREDICTIONS("GPT, 4 stages") {
  const Case& kase = predict.kase();
  const PlacementRules rules = placement_rules(kase);
  const PlacementRules one_in_flight = with_flight(rules, [](auto) { return 1; }), unlimited = without_limit(rules);
  const Stages best = best_stages(rules), equal = equal_stages(number_of_layers(kase), kase.ranks);
  const auto slowest = [&](const Stages& stages) { return named("slowest stage", Flops(rules.slowest_of(stages))); };
  predict
      .number("needed", "How many bytes do weights, gradients and micro-batches in flight take on the first stage?",
              named("on stage 0", Bytes(rules.needed_on(0, best[0]))))
      .unlike(named("one in flight", Bytes(one_in_flight.needed_on(0, best[0]))),
              "More than one micro-batch is in flight on the first stage.");
  predict
      .number("slowest", "How many operations has the forward of the slowest stage, in the best placement that fits?",
              slowest(best))
      .unlike(slowest(best_stages(unlimited)), "That placement does not fit: look at the first stage.")
      .unlike(slowest(equal), "Those are equally many layers on each stage. The head is worth several blocks.");
  predict.end("time", "When does the step end?", named("1F1B with these stages", end_of_1f1b(kase, best)))
      .unlike(named("1F1B with equally many layers", end_of_1f1b(kase, equal)),
              "That is with three layers on each stage.");
}

SHARDLINGS_PREDICTIONS_AFTER("GPT, 4 stages") {
  const Case& kase = predict.kase();
  const Stages earlier = {{0, 3}, {3, 7}, {7, 10}, {10, 12}};  // the embedding and 2 blocks, 4, 3, 1 and the head
  const auto end_of = [&](const Stages& stages) { return named("1F1B with these stages", end_of_1f1b(kase, stages)); };
  predict.answer(1)
      .number("end",
              "With more memory the stages may be 2, 4, 3 and 1 blocks. When does the step end then? (Draw it: the "
              "lesson's "
              "estimate is the same for both placements.)",
              end_of(earlier))
      .unlike(
          named("the estimate", estimate_of_1f1b(kase, earlier)),
          "That is the lesson's estimate. (The step with 2, 3, 4 and 1 blocks ends just before it.) Where the slowest "
          "stage is the second one, more of its forwards hide in its warm-up.")
      .unlike(end_of(best_stages(placement_rules(kase))),
              "That is with 2, 3, 4 and 1 blocks. The slowest stage is as slow, but it is the second one now.");
}
