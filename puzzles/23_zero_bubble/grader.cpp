// Judges a pipeline whose backward comes in two halves: one device's numbers, each pass once, the limit of
// micro-batches on a rank, the time against ZB-H1 and against a bound, messages, memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/zero_bubble.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

PassOrder order_on(const CheckContext& check, int rank) {
  return order_of(passes_found(check, pipeline_of(check.kase()), rank));
}

Nanos end_of(const PassPlan& plan, PassOrder (*order)(const PassPlan&, int)) {
  return end_along(plan, [&](int r) { return order(plan, r); }).value();
}

/// The same with memory for p micro-batches.
PassPlan with_one_each(PassPlan plan) {
  plan.most = plan.p();
  return plan;
}

/// m (F + B + W) + (p - 1) (F + B - W), if all stages are alike.
Formula<Nanos> zero_bubble_time(const PassPlan& plan) {
  const StageTimes& times = plan.times.front();
  const Formula<Count> m = named("m", plan.m), p = named("p", plan.p());
  const Formula<Nanos> f = named("F", times.forward), b = named("B", times.input), w = named("W", times.weights);
  const Formula<Nanos> exact =
      named("the best with memory for p, on these stages", end_of(with_one_each(plan), zero_bubble_order));
  if (plan.times.back().all() != times.all()) return exact;
  return simplest(m * (f + b + w) + (p - 1) * (f + b - w), exact);
}

/// What the step may take. More memory than for p micro-batches must give half of what it could at best.
Formula<Nanos> time_budget(const PassPlan& plan) {
  if (plan.most == plan.p()) return zero_bubble_time(plan);
  if (plan.most < plan.p()) return named("1F1B within the limit", end_of(plan, whole_backward_order));
  const Nanos without = end_of(with_one_each(plan), zero_bubble_order), bound = lower_bound(plan);
  return named("the best with memory for p", without) -
         named("half of what more memory can save", Nanos((without - bound).value() / 2));
}

std::int64_t calls_of(const CheckContext& check, int rank, EventKind kind) {
  return static_cast<std::int64_t>(check.events(rank, kind).size());
}

// ---- What went wrong ----

/// Some rank runs what it should run once for each layer and micro-batch another number of times.
void diagnose_passes(CheckContext& check, const Pipeline& pipeline, int rank) {
  if (calls_of(check, rank, EventKind::backward) > 0) return check.diagnose("whole_backward");
  if (check.counters(rank).layer_forwards > pipeline.m * pipeline.num_layers_of(rank)) {
    return check.diagnose("forward_twice");
  }
}

void diagnose_limit(CheckContext& check, int rank) {
  const int m = check.kase().micro_batches, r = rank;
  const PassOrder order = order_on(check, rank);
  check.detail(fmt::format("{} runs {}", check.name_of(rank), letters_of(order)));
  if (leading_forwards(order) == m && m > 2 && r + 1 == check.ranks()) return check.diagnose("all_forward_first");
  if (inputs_before_weights(order) == m && m > 2) return check.diagnose("weights_at_the_end");
  const int most = static_cast<int>(check.kase().integer("most"));
  if (leading_forwards(order) > most) return check.diagnose("warm_up_over_limit");
  check.diagnose("over_the_limit");
}

/// Every W comes right behind its B, although the rank could hold more.
bool weights_at_once(const PassOrder& order) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] == Pass::input && (k + 1 == order.size() || order[k + 1] != Pass::weights)) return false;
  }
  return true;
}

/// It runs a W between its last forward and its last B, although nothing of another rank has to come before that B.
bool weights_before_last_input(const PassOrder& order_of_last_rank) {
  const PassOrder& order = order_of_last_rank;
  const auto last_forward = std::find(order.rbegin(), order.rend(), Pass::forward).base();
  const auto last_input = std::find(order.rbegin(), order.rend(), Pass::input).base();
  return last_forward < last_input && std::count(last_forward, last_input, Pass::weights) > 0;
}

/// Between its last forward and its last B it runs W at least two times less often than B.
bool cools_down_idle(const PassOrder& order) {
  const auto last_forward = std::find(order.rbegin(), order.rend(), Pass::forward).base();
  const auto last_input = std::find(order.rbegin(), order.rend(), Pass::input).base();
  return last_forward < last_input &&
         std::count(last_forward, last_input, Pass::input) >= std::count(last_forward, last_input, Pass::weights) + 2;
}

void diagnose_time(CheckContext& check, const PassPlan& plan) {
  const int p = plan.p();
  std::vector<PassOrder> found;
  for (int rank = 0; rank < p; ++rank) {
    found.push_back(order_on(check, rank));
    check.detail(fmt::format("{} runs {}", check.name_of(rank), letters_of(found.back())));
  }
  if (works_twice(check, pipeline_of(check.kase()))) return check.diagnose("forward_twice");
  if (plan.most < p || p == 1 || plan.m < p) return;
  if (plan.most > p && most_held(found.front()) <= p) return check.diagnose("memory_unused");
  for (int rank = 0; rank < p; ++rank) {
    const int forwards = leading_forwards(found[static_cast<std::size_t>(rank)]);
    const int expected = leading_forwards(zero_bubble_order(plan, rank));
    if (forwards != expected) return check.diagnose(forwards < expected ? "warm_up_too_short" : "warm_up_too_long");
  }
  if (weights_at_once(found.back())) return check.diagnose("weights_at_once");
  if (weights_before_last_input(found.back())) return check.diagnose("weights_before_last_input");
  if (cools_down_idle(found.front())) return check.diagnose("cool_down_without_weights");
  if (most_held(found.back()) < std::min(plan.most, p)) check.diagnose("weights_too_early");
}

/// Whether inputs stay after their W. Between two Ws that follow one another nothing need be sent or waited for: where
/// all such pairs show that memory has grown by an input more than it should have, inputs stay, and where none does,
/// they go. Nothing where there are no such pairs, or they disagree.
std::optional<bool> inputs_stay(const CheckContext& check, const Pipeline& pipeline) {
  int grown = 0, level = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const std::vector<FoundPass> passes = passes_found(check, pipeline, rank);
    const PassMemory needed = memory_along(check.kase(), rank, order_of(passes));
    const auto first = static_cast<std::size_t>(pipeline.layers_of(rank, 0).begin);
    for (std::size_t k = 1; k < passes.size() && k < needed.after.size(); ++k) {
      if (passes[k - 1].pass != Pass::weights || passes[k].pass != Pass::weights) continue;
      const std::int64_t found = (passes[k].last.live_after - passes[k - 1].last.live_after).value();
      const std::int64_t excess = found - (needed.after[k] - needed.after[k - 1]);
      if (excess == pipeline.layers[first].input) ++grown;
      if (excess <= 0) ++level;
    }
  }
  if (grown > 0 && level > 0) return std::nullopt;
  return grown + level > 0 ? std::optional(grown > 0) : std::nullopt;
}

/// What there is too much of after pass k: outputs, gradients or logits, and not inputs.
bool is_of_messages(const CheckContext& check, const Pipeline& pipeline, int rank, std::size_t k, std::int64_t excess) {
  const PassOrder order = order_on(check, rank);
  const LayerBytes& first = pipeline.layers[static_cast<std::size_t>(pipeline.layers_of(rank, 0).begin)];
  const LayerBytes& last = pipeline.layers[static_cast<std::size_t>(pipeline.layers_of(rank, 0).end - 1)];
  // Right behind the first forward a copy of the input looks like an output, where both are as large.
  if (k <= 1 && (excess % last.output != 0 || excess % first.input == 0)) return false;
  if (order[k - 1] != Pass::input && order[k] != Pass::input) return false;
  const auto freed = std::count(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), Pass::weights);
  return !inputs_stay(check, pipeline).value_or(excess <= freed * first.input);
}

/// The first pass after which more is alive than is needed later, and what the course of that says.
void diagnose_memory(CheckContext& check, int rank) {
  const Pipeline pipeline = pipeline_of(check.kase());
  const std::vector<FoundPass> passes = passes_found(check, pipeline, rank);
  const PassMemory needed = memory_along(check.kase(), rank, order_of(passes));
  for (std::size_t k = 0; k < passes.size() && k < needed.after.size(); ++k) {
    const std::int64_t excess = passes[k].last.live_after.value() - needed.after[k];
    if (excess <= 0) continue;
    check.detail(fmt::format("after {} of micro-batch {} ({}) {} holds {} more than it needs",
                             letters_of({passes[k].pass}), passes[k].micro, to_text(passes[k].last.at),
                             check.name_of(rank), to_text(Bytes(excess))));
    if (k == 0) return;
    if (inputs_stay(check, pipeline) == true) return check.diagnose("inputs_kept");
    if (is_of_messages(check, pipeline, rank, k, excess)) check.diagnose("outputs_kept");
    return;
  }
}

/// Nothing is left after a pass that is not needed later, also where the peak is lower than the budget.
bool check_used_up(CheckContext& check, int rank) {
  const std::vector<FoundPass> passes = passes_found(check, pipeline_of(check.kase()), rank);
  const PassMemory needed = memory_along(check.kase(), rank, order_of(passes));
  for (std::size_t k = 0; k < passes.size() && k < needed.after.size(); ++k) {
    const Bytes alive = passes[k].last.live_after, most = Bytes(needed.after[k]);
    if (passes[k].pass == Pass::forward || alive <= most) continue;
    check.fail(fmt::format("alive on {} after {} of micro-batch {}: at most {}, what is needed later",
                           check.name_of(rank), letters_of({passes[k].pass}), passes[k].micro, to_text(most)),
               to_text(alive), place_of(passes[k].last));
    return false;
  }
  return true;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_training(check, pipeline);
  for (int rank = 0; rank < pipeline.p && check.failed() && !check.is_nearly_right(); ++rank) {
    const std::int64_t inputs = calls_of(check, rank, EventKind::backward_input);
    if (calls_of(check, rank, EventKind::backward_weights) < inputs) return check.diagnose("weights_missing");
  }
}

SHARDLINGS_CHECK(passes) {
  const Pipeline pipeline = pipeline_of(check.kase());
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const Formula<Count> each = named("m", pipeline.m) * named("layers", pipeline.num_layers_of(rank));
    const std::string on = " calls of " + check.name_of(rank);
    const auto once = [&](const char* name, EventKind kind) {
      return check.exactly(name + on, calls_of(check, rank, kind), each, "calls",
                           place_beyond(check, rank, kind, each.value()));
    };
    if (once("forward", EventKind::forward) && once("backward_input", EventKind::backward_input) &&
        once("backward_weights", EventKind::backward_weights)) {
      continue;
    }
    return diagnose_passes(check, pipeline, rank);
  }
}

SHARDLINGS_CHECK(limit) {
  const Pipeline pipeline = pipeline_of(check.kase());
  const Formula<Count> most = named("most", check.kase().integer("most"));
  for (int rank = pipeline.p - 1; rank >= 0; --rank) {
    const std::vector<FoundPass> passes = passes_found(check, pipeline, rank);
    const std::int64_t layers = pipeline.num_layers_of(rank);
    const std::int64_t held = (check.counters(rank).saved_peak + layers - 1) / layers;
    Count number = 0;
    const auto beyond = std::find_if(passes.begin(), passes.end(), [&](const FoundPass& found) {
      number += found.pass == Pass::forward ? 1 : found.pass == Pass::weights ? -1 : 0;
      return number > most.value();
    });
    const Place where =
        beyond == passes.end() ? check.place_of_first(rank, EventKind::forward) : place_of(beyond->first);
    if (!check.at_most("held on " + check.name_of(rank), held, most, "micro-batches", where)) {
      return diagnose_limit(check, rank);
    }
  }
}

SHARDLINGS_CHECK(time) {
  const PassPlan plan = pass_plan(check.kase());
  const int rank = check.slowest_rank();
  const std::string what = "virtual time of " + check.name_of(rank);
  if (!check.at_most(what, check.end_time(rank), time_budget(plan))) return diagnose_time(check, plan);
  const Formula<Nanos> bound = named("bound that no order can beat", lower_bound(plan));
  if (check.ranks() > 1) check.at_least(what, check.end_time(rank), bound);
}

SHARDLINGS_CHECK(communication) {
  check_messages(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const PassOrder order = order_on(check, rank);
    if (check.peak_at_most(rank, memory_along(check.kase(), rank, order).peak) && check_used_up(check, rank)) continue;
    return diagnose_memory(check, rank);
  }
}

SHARDLINGS_PREDICTIONS("4 stages, 8 micro-batches") {
  const Case& kase = predict.kase();
  const PassPlan plan = pass_plan(kase);
  const StageTimes& times = plan.times.front();
  const Formula<Count> m = named("m", plan.m), p = named("p", plan.p());
  const Formula<Nanos> f = named("F", times.forward), b = named("B", times.input), w = named("W", times.weights);
  const Formula<Nanos> work = m * (f + b + w);
  const PassOrder last = zero_bubble_order(plan, plan.p() - 1);
  predict
      .count("forwards",
             "With as few forwards as 1F1B needs: how many micro-batches go forward on rank 1 before its first B?",
             Formula<Count>(leading_forwards(zero_bubble_order(plan, 1))), "micro-batches")
      .unlike(m, "That is GPipe: there is memory for p of them.")
      .unlike(p, "It works with the right order, but one fewer is enough: p - r.")
      .unlike(p - 2, "A turn of the steady state begins with a forward, too: one more than the warm-up.");
  predict
      .count("inputs",
             "How often does the last rank run B before its first W, if it puts W off as long as the memory allows?",
             Formula<Count>(inputs_before_weights(last)), "passes")
      .unlike(Formula<Count>(1), "After one B it holds one micro-batch. There is memory for p.")
      .unlike(p - 1, "After p-1 forwards there is still room for one more.");
  predict.end("time", "When does the step end?", work + (p - 1) * (f + b - w))
      .unlike(work + (p - 1) * (f + b + w),
              "That is 1F1B, where each gradient waits for the W of every rank on its way.")
      .unlike(work, "That is one rank's work. The last rank cannot begin before the first micro-batch has come to it.")
      .unlike(work + (p - 1) * (f + b), "So much of the bubble cannot be filled by forwards. But a W fits into it.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 stages, 8 micro-batches") {
  const Formula<Count> p = named("p", Count(8));
  const Formula<Nanos> f = named("F", Nanos(1'000'000)), work = named("m (F + B + W)", Nanos(48'000'000));
  predict.answer(1)
      .number("least",
              "With 8 stages, 16 micro-batches and 1 ms for each of F, B and W: how long does the step take at least, "
              "whatever the memory?",
              work + (p - 1) * f)
      .unlike(work, "That is one rank's work, and the last rank begins later than the first one.")
      .unlike(work + (p - 1) * (3 * f), "That is 1F1B. Its bubble is filled with W.");
}
