// Judges a pipeline that goes all forward, then all backward: one device's numbers, messages, time, what is in flight.

#include "grading/judge/grader.h"

#include <algorithm>
#include <cmath>

#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

/// Blocking messages: nothing stays that has been sent, nothing is posted ahead.
constexpr Mail kBlocking{};

Order all_forward_first(const Pipeline& pipeline) {
  return order_of(pipeline, gpipe_warm_up(pipeline));
}

bool has_barrier(const CheckContext& check, int rank) {
  const std::vector<front::Event> events = check.events(rank, EventKind::collective);
  return std::any_of(events.begin(), events.end(),
                     [&](const front::Event& event) { return check.trace(rank).names.at(event.name) == "barrier"; });
}

void diagnose_time(CheckContext& check, const Pipeline& pipeline) {
  const Order found = order_found(check, pipeline, 0);
  if (pipeline.p > 1 && pipeline.m > 1 && most_in_flight(found) == 1) return check.diagnose("one_at_a_time");
  if (has_barrier(check, 0)) return check.diagnose("barrier");
  if (pipeline.p > 1 && runs_empty(found)) return check.diagnose("drained");
  if (sends_late(check, pipeline)) check.diagnose("sent_late");
}

/// The gradients of stage r are m^(p-r) times too small.
bool divides_on_every_stage(const CheckContext& check, const Pipeline& pipeline) {
  if (pipeline.p == 1 || pipeline.m == 1) return false;
  const Layers found = found_layers(check.result(), "grads"), &right = check.reference().grads;
  if (found.size() != right.size()) return false;
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const Range own = pipeline.layers_of(rank, 0);
    for (auto l = static_cast<std::size_t>(own.begin); l < static_cast<std::size_t>(own.end); ++l) {
      if (!near(constant_ratio({found[l]}, {right[l]}), std::pow(pipeline.m, rank - pipeline.p))) return false;
    }
  }
  return true;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_training(check, pipeline);
  if (!check.failed() || check.is_nearly_right()) return;
  if (divides_on_every_stage(check, pipeline)) check.diagnose("divided_on_every_stage");
}

SHARDLINGS_CHECK(work) {
  check_calls(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(communication) {
  check_messages(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(time) {
  const Pipeline pipeline = pipeline_of(check.kase());
  if (!check_time(
          check, pipeline, [&](int) { return all_forward_first(pipeline); }, kBlocking)) {
    diagnose_time(check, pipeline);
  }
}

SHARDLINGS_CHECK(memory) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_memory(
      check, pipeline, [&](int) { return all_forward_first(pipeline); }, kBlocking);
}

SHARDLINGS_PREDICTIONS("4 stages, 8 micro-batches") {
  const Case& kase = predict.kase();
  const Pipeline pipeline = pipeline_of(kase);
  const Letters letter(kase);
  const Formula<Count> p = named("p", pipeline.p);
  const auto peak_of = [&](int rank, const Order& order) { return memory_along(kase, rank, order, kBlocking).peak; };
  predict.sent("sent", 1, "How many bytes does rank 1 send in the step?", message_bytes(pipeline, 1))
      .unlike(message_bytes(pipeline, 0), "Rank 1 sends outputs to rank 2, and gradients to rank 0 as well.")
      .unlike(message_bytes(pipeline, 1) / letter.m, "That is one micro-batch.");
  predict
      .count("in_flight", "How many micro-batches are in flight on rank 0 when its first backward begins?",
             Formula<Count>(most_in_flight(all_forward_first(pipeline))), "micro-batches", Question::Of::saved, 0)
      .unlike(p, "That is the depth of the pipeline. Here all forwards come first.")
      .unlike(1, "Its first backward comes after all of its forwards.");
  predict
      .peak("peak", 1, "How many bytes of device memory are alive on rank 1 at the worst moment?",
            peak_of(1, all_forward_first(pipeline)))
      .unlike(peak_of(1, order_of(pipeline, one_f_one_b_warm_up(pipeline, 1))),
              "All micro-batches are in flight on every rank, not only some.");
  predict.end("time", "When does the step end?", step_time(kase, pipeline))
      .unlike(letter.m * (letter.f + letter.b), "That is one rank's work. The last rank begins p-1 forwards later.")
      .unlike(letter.m * (letter.f + letter.b) + (p - 1) * letter.f,
              "That is when the last rank ends. Its last gradient still has to go back through all the others.")
      .unlike((letter.m + p) * (letter.f + letter.b),
              "The first micro-batch waits p-1 times for its turn, not p times.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 stages, 8 micro-batches") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  Case again = kase, deep = kase;
  again.cluster.table.backward += again.cluster.table.forward;
  deep.ranks = deep.model.layers = 2 * kase.ranks;
  deep.cluster.table.forward = Nanos(kase.cluster.table.forward.value() / 2);
  deep.cluster.table.backward = Nanos(kase.cluster.table.backward.value() / 2);
  predict.answer(2)
      .number("again",
              "Each backward runs its stage's forward again, once its gradient is there. When does the step end?",
              step_time(again, pipeline_of(again)))
      .unlike(step_time(kase, pipeline_of(kase)), "That is without a second forward.")
      .unlike(step_time(kase, pipeline_of(kase)) + letter.m * letter.f,
              "That is where stages run it while they wait for the gradient. The last stage never waits.");
  predict.answer(3)
      .number("deep", "Eight stages of half the length, with the same m: when does the step end?",
              step_time(deep, pipeline_of(deep)))
      .unlike(step_time(kase, pipeline_of(kase)) / 2, "The bubble has more turns now: p-1 = 7 in place of 3.")
      .unlike(step_time(kase, pipeline_of(kase)), "Each turn is half as long.");
}
