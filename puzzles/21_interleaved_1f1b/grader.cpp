// Judges interleaved 1F1B: one device's numbers, chunks in flight on each rank, time, messages, memory.

#include "grading/judge/grader.h"

#include "grading/formulas/pipeline_checks.h"

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
