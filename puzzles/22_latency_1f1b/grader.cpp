// Judges 1F1B with a latency: one device's numbers, what is in flight on each rank, time, messages, memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "grading/formulas/pipeline_checks.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

/// In each direction one message may be on its way out, and there is room for one on its way in.
constexpr Mail kOneEachWay{.sends_in_flight = true, .receives_ahead = true};

Order eager(const Pipeline& pipeline, int rank) {
  return order_of(pipeline, eager_warm_up(pipeline, rank));
}

/// All calls of the model, by their beginning.
std::vector<Event> calls_of(const CheckContext& check, int rank) {
  std::vector<Event> calls = check.events(rank, EventKind::forward);
  const std::vector<Event> backwards = check.events(rank, EventKind::backward);
  calls.insert(calls.end(), backwards.begin(), backwards.end());
  return calls;
}

/// A receive that was posted only after the rank had computed with the message before it.
bool find_late_receive(CheckContext& check, int rank, EventKind way) {
  const std::vector<Event> calls = check.events(rank, way);
  std::vector<Event> receives = check.events(rank, EventKind::recv);
  std::erase_if(receives, [&](const Event& event) { return (event.peer < rank) != (way == EventKind::forward); });
  for (std::size_t k = 1; k < receives.size(); ++k) {
    const auto used = [&](const Event& call) {
      return call.label.micro == receives[k - 1].label.micro && call.end <= receives[k].posted;
    };
    if (std::none_of(calls.begin(), calls.end(), used)) continue;
    check.detail(fmt::format("{} expects the {} of micro-batch {} only at {}", check.name_of(rank),
                             way == EventKind::forward ? "activation" : "gradient", receives[k].label.micro,
                             to_text(receives[k].posted)));
    return true;
  }
  return false;
}

/// A send that was waited for before anything else was computed, although more was to be.
bool find_blocking_send(const CheckContext& check, int rank) {
  const std::vector<Event> calls = calls_of(check, rank);
  Nanos computed;  // up to here when the event was noted: a message is noted when it has been waited for
  for (const Event& event : check.trace(rank).events) {
    const bool is_call = event.depth == 0 && (event.kind == EventKind::forward || event.kind == EventKind::backward);
    if (is_call) computed = event.end;
    const bool at_once = event.kind == EventKind::send && event.posted >= computed && event.end > event.posted;
    const auto later = [&](const Event& call) { return call.begin >= event.end; };
    if (at_once && std::any_of(calls.begin(), calls.end(), later)) return true;
  }
  return false;
}

/// A gradient that was waited for before a forward: the rank stood still in the meantime.
bool find_gradient_taken_early(CheckContext& check, int rank) {
  const std::vector<Event>& events = check.trace(rank).events;  // a message is noted when it has been waited for
  for (std::size_t k = 0; k < events.size(); ++k) {
    if (events[k].kind != EventKind::recv || events[k].depth != 0 || events[k].peer < rank) continue;
    const auto call = std::find_if(events.begin() + static_cast<std::ptrdiff_t>(k), events.end(), [](const Event& e) {
      return e.depth == 0 && (e.kind == EventKind::forward || e.kind == EventKind::backward);
    });
    if (call == events.end() || call->kind == EventKind::backward) continue;
    check.detail(fmt::format("{} waits for the gradient of micro-batch {} before it goes forward with micro-batch {}",
                             check.name_of(rank), events[k].label.micro, call->label.micro));
    return true;
  }
  return false;
}

void diagnose_time(CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (find_late_receive(check, rank, EventKind::forward) || find_late_receive(check, rank, EventKind::backward)) {
      return check.diagnose("posted_late");
    }
  }
  if (sends_late(check, pipeline)) return check.diagnose("sent_late");
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (find_blocking_send(check, rank)) return check.diagnose("send_waited_for");
  }
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (find_gradient_taken_early(check, rank)) return check.diagnose("taken_early");
  }
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const int found = leading_forwards(order_found(check, pipeline, rank));
    if (found >= leading_forwards(eager(pipeline, rank))) continue;
    check.detail(fmt::format("{} goes forward {} times before its first backward", check.name_of(rank), found));
    return check.diagnose("warm_up_too_short");
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
    const Formula<Count> most = min(2 * (named("p", pipeline.p) - named("r", rank)) - 1, named("m", pipeline.m));
    if (!check_in_flight(check, pipeline, rank, most)) return;
  }
}

SHARDLINGS_CHECK(time) {
  const Pipeline pipeline = pipeline_of(check.kase());
  if (!check_time(
          check, pipeline, [&](int rank) { return eager(pipeline, rank); }, kOneEachWay)) {
    diagnose_time(check, pipeline);
  }
}

SHARDLINGS_CHECK(communication) {
  check_messages(check, pipeline_of(check.kase()));
}

SHARDLINGS_CHECK(memory) {
  const Pipeline pipeline = pipeline_of(check.kase());
  check_memory(
      check, pipeline, [&](int rank) { return eager(pipeline, rank); }, kOneEachWay);
}
