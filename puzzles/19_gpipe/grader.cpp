// Judges a pipeline that goes all forward, then all backward: one device's numbers, messages, time, what is in flight.

#include "grading/judge/grader.h"

#include <algorithm>

#include "grading/formulas/pipeline_checks.h"

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

}  // namespace

SHARDLINGS_CHECK(output) {
  check_training(check, pipeline_of(check.kase()));
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
