// Judges stages of unequal layers: one device's numbers, stages that fit, the slowest one against the best placement,
// and 1F1B on them.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "grading/formulas/pipeline.h"
#include "grading/judge/predictions.h"
#include "model/flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

using Stages = std::vector<Range>;
using Numbers = std::vector<std::int64_t>;

// ---- Placements ----

/// What a placement goes by: the judge's rules, or those of somebody who overlooks something.
struct Rules {
  Numbers work;       ///< of layer l: operations of its forward
  Numbers states;     ///< bytes of its weights and gradients
  Numbers kept;       ///< bytes that a micro-batch in flight keeps of it
  Numbers in_flight;  ///< micro-batches on stage r
  std::int64_t memory = 0;
};

Rules rules_of(const Case& kase) {
  Rules rules;
  const model::ModelStructure structure = model::make_structure(kase.model);
  for (const model::LayerStructure& layer : structure.layers) {
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

std::int64_t sum_in(const Numbers& numbers, Range layers) {
  return std::accumulate(numbers.begin() + layers.begin, numbers.begin() + layers.end, std::int64_t{0});
}

std::int64_t needed_on(const Rules& rules, Count r, Range layers) {
  return sum_in(rules.states, layers) + rules.in_flight[static_cast<std::size_t>(r)] * sum_in(rules.kept, layers);
}

std::int64_t slowest_of(const Rules& rules, const Stages& stages) {
  std::int64_t slowest = 0;
  for (const Range& layers : stages) slowest = std::max(slowest, sum_in(rules.work, layers));
  return slowest;
}

bool fit(const Rules& rules, const Stages& stages) {
  Count r = 0;
  return std::ranges::all_of(stages, [&](Range own) { return needed_on(rules, r++, own) <= rules.memory; });
}

bool takes(const Rules& rules, Count r, Range layers, std::int64_t most) {
  return sum_in(rules.work, layers) <= most && needed_on(rules, r, layers) <= rules.memory;
}

/// From the last stage on, each takes layers as long as it fits and has no more operations than `most`; one at least.
Stages filled_from_behind(const Rules& rules, std::int64_t most) {
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

/// A placement with the fastest slowest stage of those that fit; empty if none fits. What fits on a stage fits on every
/// later one: so stages that are filled up from behind reach layer 0 if any others do, and bisection finds the smallest
/// number of operations with which they do. From the front a stage could leave the next one a layer that is too large.
Stages best_stages(const Rules& rules) {
  const auto reaches = [&](std::int64_t most) {
    const Stages stages = filled_from_behind(rules, most);
    return stages.front().begin == 0 && fit(rules, stages) && slowest_of(rules, stages) <= most;
  };
  std::int64_t below = -1, most = sum_in(rules.work, {0, std::ssize(rules.work)});
  if (!reaches(most)) return {};
  while (most - below > 1) {
    const std::int64_t middle = below + (most - below) / 2;
    (reaches(middle) ? most : below) = middle;
  }
  return filled_from_behind(rules, most);
}

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

Rules with_flight(Rules rules, const std::function<std::int64_t(std::int64_t r)>& in_flight) {
  for (std::int64_t r = 0; std::int64_t & number : rules.in_flight) number = in_flight(r++);
  return rules;
}

struct Mistake {
  const char* id;
  Rules rules;
};

/// What leads to stages that do not fit.
std::vector<Mistake> mistakes_of_memory(const Case& kase) {
  const Rules right = rules_of(kase);
  const std::int64_t p = kase.ranks, m = kase.micro_batches;
  Rules unlimited = right, weights_only = right;
  unlimited.memory = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t& bytes : weights_only.states) bytes /= 2;
  return {{"memory_ignored", unlimited},
          {"gradients_forgotten", weights_only},
          {"one_in_flight", with_flight(right, [](auto) { return 1; })},
          {"own_forward_forgotten", with_flight(right, [&](auto r) { return std::min(p - r - 1, m); })},
          {"", with_flight(right, [](auto) { return 0; })}};  // no name of its own: it stands against the others
}

/// And what leads to stages that fit and are slower than they need be.
std::vector<Mistake> mistakes_of_work(const Case& kase) {
  const Rules right = rules_of(kase);
  Rules by_weights = right, ends_free = right;
  Case swapped = kase;
  std::swap(swapped.model.sequence, swapped.batch);
  by_weights.work = right.states;
  ends_free.work.front() = ends_free.work.back() = 0;
  return {{"balanced_weights", by_weights},
          {"ends_forgotten", ends_free},
          {"shape_swapped", rules_of(swapped)},
          {"", with_flight(right, [&](auto) { return std::min(kase.ranks, kase.micro_batches); })},
          {"more_than_there_are", with_flight(right, [&](auto r) { return kase.ranks - r; })}};
}

/// The stages are among the best by these rules.
bool goes_by(const Rules& rules, const Stages& stages) {
  const Stages best = best_stages(rules);
  return !best.empty() && fit(rules, stages) && slowest_of(rules, stages) == slowest_of(rules, best);
}

/// As equally many layers on each stage as can be, the longer stages first.
bool equally_many(const Stages& stages) {
  const bool longer_first = std::ranges::is_sorted(stages, std::greater<>(), &Range::size);
  return longer_first && stages.front().size() <= stages.back().size() + 1;
}

/// Each stage takes layers up to the mean of all, as long as it fits, and the last one what is left.
bool filled_up(const Rules& rules, const Stages& stages) {
  const auto p = std::ssize(stages), layers = std::ssize(rules.work);
  const std::int64_t mean = sum_in(rules.work, {0, layers}) / p;
  Stages filled;
  for (Count r = 0, begin = 0; r < p; ++r, begin = filled.back().end) {
    filled.push_back({begin, begin + 1});
    Count& end = filled.back().end;  // the stages after it have a layer each
    while (end < layers - (p - r - 1) && (r + 1 == p || takes(rules, r, {begin, end + 1}, mean))) ++end;
  }
  return stages == filled;
}

/// Names the mistake if there is one alone that leads to these stages.
void diagnose_placement(CheckContext& check, const Stages& stages, const std::vector<Mistake>& mistakes) {
  std::vector<std::string> behind;
  if (equally_many(stages)) behind.emplace_back("equally_many");
  if (filled_up(rules_of(check.kase()), stages)) behind.emplace_back("filled_up");
  for (const Mistake& mistake : mistakes) {
    if (goes_by(mistake.rules, stages)) behind.emplace_back(mistake.id);
  }
  if (behind.size() == 1 && !behind.front().empty()) check.diagnose(behind.front());
}

std::string text_of(const Stages& stages) {
  std::vector<std::string> texts;
  for (const Range& layers : stages) texts.push_back(fmt::format("[{}, {})", layers.begin, layers.end));
  return fmt::format("the stages are {}", fmt::join(texts, " "));
}

// ---- 1F1B on uneven stages ----

/// Operations of a layer's backward: each product twice, and what lies between.
std::int64_t backward_flops(const model::LayerStructure& layer, Count tokens, Count batch) {
  using Type = model::LayerStructure::Type;
  const std::int64_t products = 4 * tokens * layer.in * layer.out;
  switch (layer.type) {
    case Type::linear: return products + tokens * layer.out;
    case Type::linear_gelu: return products + (24 + 1) * tokens * layer.out;
    case Type::embedding: return 2 * tokens * layer.out;
    // Two norms (32), biases (9), two sums with the gradient (2), the GELU of four times the width (96).
    case Type::block: return tokens * (48 * layer.in * layer.in + 8 * tokens / batch * layer.in + 139 * layer.in);
    case Type::head: return products + 16 * tokens * layer.in;
  }
  return 0;
}

struct StageTimes {
  Nanos forward, backward;
};

/// On a cluster that makes one operation in a nanosecond, and moves bytes in no time. The loss belongs to the last
/// stage's backward.
std::vector<StageTimes> times_of(const Case& kase, const Stages& stages) {
  const std::vector<model::LayerStructure> layers = model::make_structure(kase.model).layers;
  const Count tokens = kase.model.sequence * kase.batch;
  std::vector<StageTimes> times;
  for (const Range& stage : stages) {
    StageTimes both;
    for (Count l = stage.begin; l < stage.end; ++l) {
      const model::LayerStructure& layer = layers[static_cast<std::size_t>(l)];
      both.forward += Nanos(model::forward_flops(layer, tokens, kase.batch).value());
      both.backward += Nanos(backward_flops(layer, tokens, kase.batch));
    }
    times.push_back(both);
  }
  times.back().backward += Nanos(12 * tokens * kase.model.outputs);
  return times;
}

Pipeline pipeline_with(const Case& kase) {
  return {kase.ranks, kase.micro_batches, 1, {}};
}

Order one_f_one_b(const Case& kase, int rank) {
  return order_of(pipeline_with(kase), one_f_one_b_warm_up(pipeline_with(kase), rank));
}

/// When 1F1B ends if each stage takes its own time and messages take none.
Nanos end_of_1f1b(const Case& kase, const std::vector<StageTimes>& times) {
  const auto p = static_cast<std::size_t>(kase.ranks), m = static_cast<std::size_t>(kase.micro_batches);
  std::vector<std::vector<std::optional<Nanos>>> done[2];  // by direction, stage and micro-batch
  for (auto& way : done) way.assign(p, std::vector<std::optional<Nanos>>(m));
  std::vector<Nanos> now(p);
  std::vector<std::size_t> next(p);
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t r = 0; r < p; ++r) {
      const Order order = one_f_one_b(kase, static_cast<int>(r));
      for (; next[r] < order.size(); ++next[r], moves = true) {
        const auto [forward, micro, chunk] = order[next[r]];
        const auto i = static_cast<std::size_t>(micro);
        const bool receives = forward ? r > 0 : r + 1 < p;
        const std::optional<Nanos> sent = receives ? done[forward][forward ? r - 1 : r + 1][i] : Nanos(0);
        if (!sent) break;
        now[r] = std::max(now[r], *sent) + (forward ? times[r].forward : times[r].backward);
        done[forward][r][i] = now[r];
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

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
  if (most_in_flight(found) <= std::min(check.ranks() - rank, m)) return;
  const bool all_forward = leading_forwards(order_found(check, last, stages.back())) == m && m > 2;
  check.diagnose(all_forward ? "all_forward_first" : "warm_up_too_long");
}

void diagnose_time(CheckContext& check, const Stages& stages) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Order found = order_found(check, rank, stages[static_cast<std::size_t>(rank)]);
    const int forwards = leading_forwards(found);
    if (forwards >= leading_forwards(one_f_one_b(check.kase(), rank))) continue;
    check.detail(fmt::format("{} goes forward {} times before its first backward", check.name_of(rank), forwards));
    return check.diagnose(forwards == 1 && rank == 0 ? "one_at_a_time" : "warm_up_too_short");
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
  const Rules rules = rules_of(check.kase());
  const Stages stages = stages_found(check);
  for (int r = 0; r < check.ranks(); ++r) {
    const std::string what = "weights, gradients and micro-batches in flight on " + check.name_of(r);
    const Bytes needed(needed_on(rules, r, stages[static_cast<std::size_t>(r)]));
    if (check.at_most(what, needed, named("memory", Bytes(rules.memory)))) continue;
    check.detail(text_of(stages));
    return diagnose_placement(check, stages, mistakes_of_memory(check.kase()));
  }
}

SHARDLINGS_CHECK(placement) {
  const Rules rules = rules_of(check.kase());
  const Stages best = best_stages(rules), stages = stages_found(check);
  if (best.empty()) throw std::logic_error("puzzle.toml: no placement fits the memory of this case");
  const Formula<Flops> budget = named("the best of all placements that fit", Flops(slowest_of(rules, best)));
  if (check.at_most("operations of the slowest stage's forward", Flops(slowest_of(rules, stages)), budget)) return;
  check.detail(text_of(stages));
  diagnose_placement(check, stages, mistakes_of_work(check.kase()));
}

SHARDLINGS_CHECK(in_flight) {
  const Stages stages = stages_found(check);
  const Pipeline pipeline = pipeline_with(check.kase());
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
  const Nanos end = end_of_1f1b(check.kase(), times_of(check.kase(), stages));
  const std::string what = "virtual time of " + check.name_of(rank);
  if (!check.at_most(what, check.end_time(rank), named("1F1B with these stages", end))) diagnose_time(check, stages);
}

SHARDLINGS_PREDICTIONS("GPT, 4 stages") {
  const Case& kase = predict.kase();
  const Rules rules = rules_of(kase);
  const Stages best = best_stages(rules);
  const Rules unlimited = mistakes_of_memory(kase).front().rules;
  const auto slowest = [&](const Stages& stages) { return named("slowest stage", Flops(slowest_of(rules, stages))); };
  Stages equal;
  for (Count r = 0; r < kase.ranks; ++r) equal.push_back({3 * r, 3 * r + 3});
  predict
      .number("needed", "How many bytes do weights, gradients and micro-batches in flight take on the first stage?",
              named("on stage 0", Bytes(needed_on(rules, 0, best[0]))))
      .unlike(named("one in flight", Bytes(sum_in(rules.states, best[0]) + sum_in(rules.kept, best[0]))),
              "More than one micro-batch is in flight on the first stage.");
  predict
      .number("slowest", "How many operations has the forward of the slowest stage, in the best placement that fits?",
              slowest(best))
      .unlike(slowest(best_stages(unlimited)), "That placement does not fit: look at the first stage.")
      .unlike(slowest(equal), "Those are equally many layers on each stage. The head is worth several blocks.");
  predict
      .end("time", "When does the step end?", named("1F1B with these stages", end_of_1f1b(kase, times_of(kase, best))))
      .unlike(named("1F1B with equally many layers", end_of_1f1b(kase, times_of(kase, equal))),
              "That is with three layers on each stage.");
}
