// Judges 1F1B: one device's numbers, what is in flight on each rank, time, messages, memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include "grading/formulas/pipeline_checks.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

/// In each direction one message may be on its way while something else is computed.
constexpr Mail kOneSend{.sends_in_flight = true};

Order one_f_one_b(const Pipeline& pipeline, int rank) {
  return order_of(pipeline, one_f_one_b_warm_up(pipeline, rank));
}

void diagnose_time(CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const int found = leading_forwards(order_found(check, pipeline, rank));
    if (found >= leading_forwards(one_f_one_b(pipeline, rank))) continue;
    check.detail(fmt::format("{} goes forward {} before its first backward", check.name_of(rank),
                             amount_text(found, Unit::count, "times")));
    return check.diagnose(found == 1 && rank == 0 ? "one_at_a_time" : "warm_up_too_short");
  }
  if (pipeline.p > 1 && runs_empty(order_found(check, pipeline, 0))) return check.diagnose("drained");
  if (sends_late(check, pipeline)) return check.diagnose("sent_late");
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const int found = leading_forwards(order_found(check, pipeline, rank));
    if (found > leading_forwards(one_f_one_b(pipeline, rank)) && found < pipeline.m) {
      return check.diagnose("warm_up_too_long");
    }
  }
}

}  // namespace

SHARDLINGS_CHECK(output) {
  check_training(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(in_flight) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_calls(check, pipeline);
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (!check_in_flight(check, pipeline, rank, one_f_one_b_in_flight(pipeline, rank))) return;
  }
}

SHARDLINGS_CHECK(time) {
  const Pipeline pipeline = pipeline_of(check.kase());
  if (!check_time(
          check, pipeline, [&](int rank) { return one_f_one_b(pipeline, rank); }, kOneSend)) {
    diagnose_time(check, pipeline);
  }
}

SHARDLINGS_CHECK(communication) {
  check_messages(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(memory) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_memory(
      check, pipeline, [&](int rank) { return one_f_one_b(pipeline, rank); }, kOneSend);
}

SHARDLINGS_PREDICTIONS("4 stages, 8 micro-batches") {
  const Case& kase = predict.kase();
  const Pipeline pipeline = pipeline_of(kase);
  const Letters letter(kase);
  const Formula<Count> p = named("p", pipeline.p);
  const auto peak_with = [&](const Order& order, Mail mail) { return memory_along(kase, 0, order, mail).peak; };
  const Formula<Bytes> peak = peak_with(one_f_one_b(pipeline, 0), kOneSend);
  predict
      .count("forwards", "How often does rank 0 go forward before its first backward?",
             Formula<Count>(leading_forwards(one_f_one_b(pipeline, 0))), "micro-batches", Question::Of::saved, 0)
      .unlike(p - 1, "Those are the forwards of the warm-up. A turn of the steady state begins with a forward, too.")
      .unlike(letter.m, "That is GPipe: all of them.");
  predict
      .peak(
          "peak", 0,
          "How many bytes of device memory are alive on rank 0 at the worst moment, if an output stays there until the "
          "next one is sent?",
          peak)
      .unlike(peak_with(one_f_one_b(pipeline, 0), Mail{}),
              "The output that was sent last is missing: it stays until the next one is sent.")
      .unlike(peak_with(order_of(pipeline, gpipe_warm_up(pipeline)), kOneSend),
              "That is with all micro-batches in flight.")
      .unlike(peak_with(order_of(pipeline, gpipe_warm_up(pipeline)), Mail{}),
              "That is GPipe's peak, with all micro-batches in flight.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in the step?", message_bytes(pipeline, 0))
      .unlike(message_bytes(pipeline, 1), "Nobody is below rank 0, so its gradients of inputs go nowhere.");
  predict.end("time", "When does the step end?", step_time(kase, pipeline))
      .unlike(letter.m * (letter.f + letter.b), "That is one rank's work. The bubble is as large as GPipe's.")
      .unlike(letter.m * (letter.f + letter.b) + (p - 1) * letter.f,
              "That is when the last rank ends. Its last gradient still has to go up through all the others.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 stages, 8 micro-batches") {
  const Letters letter(predict.kase());
  constexpr Count kStages = 6;  // another number than that of puzzle 23's first case, whose time is asked there
  const Formula<Count> others = folded(named("p", kStages) - 1);
  predict.answer(3)
      .number("bubble",
              "There are 6 stages as long as those of the case. Backward is cut into two halves of t_F each, and those "
              "that compute gradients of weights fill the idle time, as in ZB-H1. How long is the bubble?",
              others * letter.f)
      .unlike(others * (letter.f + letter.b), "That is the bubble of 1F1B. Gradients of inputs leave earlier now.")
      .unlike(others * (letter.f + letter.f),
              "That counts the half that is waited for. The other half fills its room.");
}
