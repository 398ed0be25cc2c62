// Judges a pipeline that goes all forward, then all backward: one device's numbers, messages, time, what is in flight.

#include "grading/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "grading/pipeline_checks.h"

using namespace shardlings;
using namespace shardlings::grading;
using front::EventKind;

namespace {

/// Blocking messages: nothing stays that has been sent, nothing is posted ahead.
constexpr Mail kBlocking{};

/// The stages take turns. With K layers in the longest of them, the first micro-batch takes L (F + B) through all
/// stages, and each of the m - 1 others ends K (F + B) after the one before it.
std::int64_t budget(const Case& kase, const Pipeline& pipeline) {
  const auto layers = static_cast<std::int64_t>(pipeline.layers.size());
  return table_time(kase, 1, 1) * (layers + (pipeline.m - 1) * pipeline.longest_stage());
}

std::string formula(const Case& kase, const Pipeline& pipeline) {
  const auto layers = static_cast<std::int64_t>(pipeline.layers.size());
  const std::int64_t longest = pipeline.longest_stage();
  const Nanos stage_time(longest * table_time(kase, 1, 1));
  if (layers == longest * pipeline.p) {
    return fmt::format("(m + p - 1) (F + B) = {} x {}", pipeline.m + pipeline.p - 1, to_text(stage_time));
  }
  return fmt::format("all stages once + (m - 1) times the longest = {} + {} x {}",
                     to_text(Nanos(layers * table_time(kase, 1, 1))), pipeline.m - 1, to_text(stage_time));
}

bool has_barrier(const CheckContext& check, int rank) {
  return !check.events(rank, EventKind::collective).empty();
}

void diagnose_time(CheckContext& check, const Pipeline& pipeline) {
  if (pipeline.p > 1 && pipeline.m > 1 && most_in_flight(order_found(check, pipeline, 0)) == 1) {
    return check.diagnose("one_at_a_time");
  }
  if (has_barrier(check, 0)) return check.diagnose("barrier");
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
  const int rank = check.slowest_rank();
  if (!check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget(check.kase(), pipeline),
                     formula(check.kase(), pipeline), "ns")) {
    diagnose_time(check, pipeline);
  }
}

SHARDLINGS_CHECK(memory) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_memory(
      check, pipeline, [&](int) { return order_of(pipeline, gpipe_warm_up(pipeline)); }, kBlocking);
}
