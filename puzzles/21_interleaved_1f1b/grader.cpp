// Judges interleaved 1F1B: one device's numbers, chunks in flight on each rank, time, messages, memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "grading/formulas/pipeline_checks.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

/// In each direction one message may be on its way while something else is computed.
constexpr Mail kOneSend{.sends_in_flight = true};

Order interleaved(const Pipeline& pipeline, int rank) {
  return order_of(pipeline, one_f_one_b_warm_up(pipeline, rank));
}

void diagnose_time(CheckContext& check, const Pipeline& pipeline) {
  const Order found = order_found(check, pipeline, 0);
  if (most_in_flight(found) <= pipeline.v) return check.diagnose("one_at_a_time");
  if (runs_empty(found)) check.diagnose("drained");
}

Count forwards_in(const Order& order) {
  return std::count_if(order.begin(), order.end(), [](const Slot& slot) { return slot.forward; });
}

/// On every rank a forward of some chunk is missing; says how often the first one has run forward.
bool leaves_slots_out(CheckContext& check, const Pipeline& pipeline) {
  const Count all = Count{pipeline.m} * pipeline.v;
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (forwards_in(order_found(check, pipeline, rank)) >= all) return false;
  }
  const Count first = forwards_in(order_found(check, pipeline, 0));
  check.detail(fmt::format("{} has run forward {} times, and m v = {}", check.name_of(0), first, all));
  return true;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_training(check, pipeline);
  if (check.failed() && !check.is_nearly_right() && leaves_slots_out(check, pipeline)) check.diagnose("slots_left_out");
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
          check, pipeline, [&](int rank) { return interleaved(pipeline, rank); }, kOneSend)) {
    diagnose_time(check, pipeline);
  }
}

SHARDLINGS_CHECK(communication) {
  check_messages(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(memory) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_memory(
      check, pipeline, [&](int rank) { return interleaved(pipeline, rank); }, kOneSend);
}

SHARDLINGS_PREDICTIONS("4 ranks, 2 chunks, 8 micro-batches") {
  const Case& kase = predict.kase();
  const Pipeline pipeline = pipeline_of(kase);
  const Letters letter(kase);
  const Formula<Count> p = named("p", pipeline.p), v = named("v", pipeline.v);
  predict.end("time", "When does the step end?", step_time(kase, pipeline))
      .unlike(letter.m * v * (letter.f + letter.b), "That is one rank's work. The last rank begins p-1 chunks later.")
      .unlike((letter.m + p - 1) * v * (letter.f + letter.b),
              "That is 1F1B without interleaving: there the bubble has turns of v chunks, and here of one.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in the step?", message_bytes(pipeline, 0))
      .unlike(message_bytes(pipeline, 1), "Stage 0 has nobody below it, so the gradient of its input goes nowhere.")
      .unlike(message_bytes(pipeline, 1) / 2,
              "Stage p, which is on rank 0 as well, sends the gradient of its input up to the last rank.");
  predict
      .count("in_flight", "How many chunks are in flight on rank 0 at most?", one_f_one_b_in_flight(pipeline, 0),
             "chunks", Question::Of::saved, 0)
      .unlike(p * v, "That is as if each chunk had p in flight. Rank 0 runs ahead of the last rank by more.")
      .unlike(letter.m * v, "That is all of them.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks, 2 chunks, 8 micro-batches") {
  const cases::Case& kase = predict.kase();
  const Letters letter(kase);
  Pipeline uneven = pipeline_of(kase);
  uneven.m = 6;
  const StageTime chunk{Nanos(kase.cluster.table.forward.value() / 2), Nanos(kase.cluster.table.backward.value() / 2)};
  const auto end_with = [&](int fewer) {  // so many forwards of warm-up fewer for each rank after it
    std::vector<Order> orders;
    for (int rank = 0; rank < uneven.p; ++rank) {
      orders.push_back(order_of(uneven, one_f_one_b_warm_up(uneven, rank) - fewer * (uneven.p - rank - 1)));
    }
    return end_along(uneven, orders, std::vector(static_cast<std::size_t>(uneven.p * uneven.v), chunk));
  };
  const Formula<Nanos> turn = (letter.f + letter.b) / 2;
  const Formula<Nanos> work = named("m v", Count(uneven.m * uneven.v)) * turn;
  predict.answer(1)
      .number(
          "end",
          "p = 4, v = 2 and m = 6, chunks of 0.5 + 1 ms, the warm-up of this puzzle, sends that nobody waits for: draw "
          "the four lines. When does the step end?",
          named("1F1B of 6 micro-batches", end_with(0)))
      .unlike(work, "That is one rank's work, without any bubble.")
      .unlike(named("with the short warm-up", end_with(1)),
              "That is with one forward more for each rank after it. The warm-up of this puzzle has two.")
      .unlike(work + named("p-1", Count(uneven.p - 1)) * turn,
              "That is as if p divided m. The second group of micro-batches has only two, which leaves gaps.");
}
