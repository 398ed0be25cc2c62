// Judges a pipeline that is folded to a V: one device's numbers, the limit of chunks on a rank, the time against ZB-H1
// and against a bound.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "grading/formulas/v_schedule.h"
#include "grading/formulas/v_waits.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

constexpr ChunkPass kFirstForward{Pass::forward, 0}, kSecondForward{Pass::forward, 1}, kFirstInput{Pass::input, 0},
    kSecondInput{Pass::input, 1};

ChunkOrder order_on(const CheckContext& check, int rank) {
  return order_of(chunk_passes_found(check, rank));
}

/// How often a pass comes before the first one of another kind.
int before_first(const ChunkOrder& order, ChunkPass counted, ChunkPass first) {
  return static_cast<int>(std::count(order.begin(), std::find(order.begin(), order.end(), first), counted));
}

Nanos zero_bubble_end(const FoldedPlan& plan) {
  const PassPlan straight = plan.unfolded();
  return end_along(straight, [&](int r) { return zero_bubble_order(straight, r); }).value();
}

/// Half of the bubble of ZB-H1, whose stages are both chunks of a rank; with too few micro-batches to fill the pipeline
/// all of it.
Formula<Nanos> time_budget(const FoldedPlan& plan) {
  const StageTimes stage = plan.unfolded().times.front();
  if (plan.m < 2 * plan.p - 1) return named("ZB-H1 with as much memory", zero_bubble_end(plan));
  const Formula<Count> m = named("m", plan.m), p = named("p", plan.p);
  const Formula<Nanos> f = named("F", stage.forward), b = named("B", stage.input), w = named("W", stage.weights);
  return m * (f + b + w) + (p - 1) * (f + b - w) / 2;
}

// ---- What went wrong ----

/// Whether the first forward that has no room could have had it, by a W whose B had run.
bool weights_left_where_full(const ChunkOrder& order, int most) {
  int held = 0, left = 0;
  for (const ChunkPass pass : order) {
    if (pass.pass == Pass::forward && ++held > most) break;
    if (pass.pass == Pass::input) ++left;
    if (pass.pass == Pass::weights) --held, --left;
  }
  return left > 0;
}

void diagnose_limit(CheckContext& check, int rank) {
  const ChunkOrder order = order_on(check, rank);
  const int m = check.kase().micro_batches, most = 2 * check.ranks();
  check.detail(fmt::format("{} runs {}", check.name_of(rank), letters_of(order)));
  const auto is_forward = [](ChunkPass pass) { return pass.pass == Pass::forward; };
  const auto leading = std::find_if_not(order.begin(), order.end(), is_forward) - order.begin();
  if (leading == 2 * m && m > 2) return check.diagnose("all_forward_first");
  const auto is_weights = [](ChunkPass pass) { return pass.pass == Pass::weights; };
  const auto first_weights = std::find_if(order.begin(), order.end(), is_weights);
  if (std::find_if_not(first_weights, order.end(), is_weights) == order.end()) {
    return check.diagnose("weights_at_the_end");
  }
  if (leading > most) return check.diagnose("warm_up_over_limit");
  check.diagnose(weights_left_where_full(order, most) ? "weights_behind_forward" : "forward_without_room");
}

std::string text_of(const PassOnRank& which) {
  return fmt::format("{} of micro-batch {}", letters_of({which.pass}), which.micro);
}

/// The first few of them.
std::string text_of(const std::vector<PassOnRank>& passes) {
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(passes.size(), 3); ++k) {
    text += (k > 0 ? ", " : "") + text_of(passes[k]);
  }
  return passes.size() > 3 ? text + ", …" : text;
}

/// Who waits for what, and what runs first or could have run.
std::string text_of(const CheckContext& check, const WaitCause& cause) {
  const PassOnRank& waiting = cause.waiting.which;
  const std::string waits = fmt::format("{} waits {} for {}", check.name_of(waiting.rank),
                                        to_text(cause.waiting.begin - cause.waiting.free), text_of(waiting));
  if (cause.too_soon) return fmt::format("{}, and could have run {} before", waits, text_of(cause.instead));
  return fmt::format("{}: {} runs {} before {}", waits, check.name_of(cause.pass.which.rank), text_of(cause.instead),
                     text_of(cause.pass.which));
}

void diagnose_time(CheckContext& check, const FoldedPlan& plan) {
  for (int rank = 0; rank < plan.p; ++rank) {
    check.detail(fmt::format("{} runs {}", check.name_of(rank), letters_of(order_on(check, rank))));
  }
  const auto order = [&](int rank) { return order_on(check, rank); };
  const std::optional<WaitCause> cause = first_wait(plan, order);
  if (!cause) return;
  check.detail(text_of(check, *cause));
  const std::string name = name_of_cause(*cause);
  const int rank = cause->pass.which.rank, right = before_first(v_order(plan, rank), kSecondInput, kFirstInput);
  if (name == "turn_short" && right == plan.p - rank) {
    check.detail(
        fmt::format("{} turns to B after {} of p - r = {} times f b w, and that gradient comes only after all of them",
                    check.name_of(rank), before_first(order(rank), kSecondInput, kFirstInput), right));
  }
  check.diagnose(name);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const auto& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) {
    for (int rank = 0; rank < check.ranks(); ++rank) {
      const auto calls = [&](EventKind kind) { return check.events(rank, kind).size(); };
      if (calls(EventKind::backward_weights) < calls(EventKind::backward_input)) {
        return check.diagnose("weights_missing");
      }
    }
    return;
  }
  std::vector<double> shares(static_cast<std::size_t>(check.ranks()), 0);
  shares.front() = expected.loss;
  check.equal("loss by rank", shares, expected.loss_tolerance);
}

SHARDLINGS_CHECK(limit) {
  const Formula<Count> most = 2 * named("p", Count(check.ranks()));
  for (int rank = check.ranks() - 1; rank >= 0; --rank) {
    const std::vector<FoundChunkPass> passes = chunk_passes_found(check, rank);
    Count held = 0;
    const auto beyond = std::find_if(passes.begin(), passes.end(), [&](const FoundChunkPass& found) {
      held += found.pass.pass == Pass::forward ? 1 : found.pass.pass == Pass::weights ? -1 : 0;
      return held > most.value();
    });
    const Place where = beyond == passes.end() ? Place{} : place_of(beyond->first);
    if (!check.at_most("held on " + check.name_of(rank), most_held(order_of(passes)), most, "chunks", where)) {
      return diagnose_limit(check, rank);
    }
  }
}

SHARDLINGS_CHECK(time) {
  const FoldedPlan plan = folded_plan(check.kase());
  const int rank = check.slowest_rank();
  const std::string what = "virtual time of " + check.name_of(rank);
  if (!check.at_most(what, check.end_time(rank), time_budget(plan))) return diagnose_time(check, plan);
  const Formula<Nanos> bound = named("bound that no order can beat", lower_bound(plan));
  if (check.ranks() > 1) check.at_least(what, check.end_time(rank), bound);
}

SHARDLINGS_PREDICTIONS("4 ranks, 8 micro-batches") {
  const Case& kase = predict.kase();
  const FoldedPlan plan = folded_plan(kase);
  const StageTimes stage = plan.unfolded().times.front();
  const Formula<Count> m = named("m", plan.m), p = named("p", plan.p);
  const Formula<Nanos> f = named("F", stage.forward), b = named("B", stage.input), w = named("W", stage.weights);
  const Formula<Nanos> work = m * (f + b + w);
  predict
      .count("forwards",
             "How many micro-batches does rank 1 take through its first chunk before its second chunk begins?",
             Formula<Count>(before_first(v_order(plan, 1), kFirstForward, kSecondForward)), "micro-batches")
      .unlike(2 * p - 1, "That is rank 0's number. How much shorter is the way from rank 1 down and up again?")
      .unlike(p - 1, "That is a way in one direction. The second chunk is reached on the way back.")
      .unlike(Formula<Count>(before_first(v_order(plan, 1), kFirstForward, kSecondForward)) - 1,
              "So many passes lie between the two forwards of micro-batch 0. Its own first one comes on top.");
  const std::int64_t message = layer_bytes(kase).front().output;
  predict.sent("sent", 1, "How many bytes does rank 1 send in the step?", 4 * m * named("message", Bytes(message)))
      .unlike(2 * m * named("message", Bytes(message)),
              "So much it sends in puzzle 23: here each micro-batch comes by twice, there and back.");
  predict.end("time", "When does the step end?", time_budget(plan))
      .unlike(work + (p - 1) * (f + b - w), "That is ZB-H1. Here the last rank begins after half as long.")
      .unlike(work, "That is one rank's work. The last rank cannot begin before the first micro-batch has come to it.")
      .unlike(work + p * f / 2, "The last rank begins behind p-1 chunks: its own is not one of them.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks, 8 micro-batches") {
  const Formula<Count> p = named("p", Count(8));
  const Formula<Nanos> f = named("F", Nanos(1'000'000)), work = named("m (F + B + W)", Nanos(96'000'000));
  predict.answer(1)
      .number(
          "least",
          "With 8 ranks, 32 micro-batches and 1 ms for each of F, B and W of a rank's two chunks together: how long "
          "does a step with the V schedule take?",
          work + (p - 1) * f / 2)
      .unlike(work + (p - 1) * f, "So long takes ZB-H1, whose last rank begins later.")
      .unlike(work, "No rank waits between its first pass and its last one, but they do not begin together.");
}
