// Judges 1F1B with a latency: one device's numbers, what is in flight on each rank, time, messages, memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/judge/predictions.h"

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

/// Micro-batches in flight.
Formula<Count> most_of(const Pipeline& pipeline, int rank) {
  return min(2 * (named("p", pipeline.p) - named("r", rank)) - 1, named("m", pipeline.m));
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
    check.detail(fmt::format("{} expects the {} of micro-batch {} only at {} ({})", check.name_of(rank),
                             way == EventKind::forward ? "activation" : "gradient", receives[k].label.micro,
                             to_text(receives[k].posted), to_text(receives[k].at)));
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
    check.detail(fmt::format("{} goes forward {} before its first backward", check.name_of(rank),
                             amount_text(found, Unit::count, "times")));
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
    if (!check_in_flight(check, pipeline, rank, most_of(pipeline, rank))) return;
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

SHARDLINGS_PREDICTIONS("4 stages, 8 micro-batches, latency 0.25 ms") {
  const Case& kase = predict.kase();
  const Pipeline pipeline = pipeline_of(kase);
  const Letters letter(kase);
  const Formula<Count> p = named("p", pipeline.p);
  const auto peak_with = [&](const Order& order, Mail mail) { return memory_along(kase, 0, order, mail).peak; };
  predict
      .count("in_flight", "How many micro-batches are in flight on rank 0 at most?", most_of(pipeline, 0),
             "micro-batches", Question::Of::saved, 0)
      .unlike(p, "That is 1F1B: forwards that fill the way down, and none for the time that messages take.")
      .unlike(most_of(pipeline, 0) - 1, "That is the warm-up. A turn of the steady state begins with a forward, too.");
  predict
      .peak("peak", 0,
            "How many bytes of device memory are alive on rank 0 at the worst moment, with one message that was sent "
            "and one that is expected?",
            peak_with(eager(pipeline, 0), kOneEachWay))
      .unlike(peak_with(order_of(pipeline, one_f_one_b_warm_up(pipeline, 0)), kOneEachWay),
              "That is with the p micro-batches of 1F1B in flight.")
      .unlike(peak_with(eager(pipeline, 0), Mail{}),
              "Messages take memory, too: one that was sent, one that is expected.");
  predict.end("time", "When does the step end?", step_time(kase, pipeline))
      .unlike(
          (letter.m + p - 1) * (letter.f + letter.b),
          "The way of the first micro-batch down, and of the last gradient up, cannot be hidden: p-1 latencies each.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 stages, 8 micro-batches, latency 0.25 ms") {
  const cases::Case& kase = predict.kase();
  Pipeline pipeline = pipeline_of(kase);
  pipeline.m = 32;
  const std::vector stages(static_cast<std::size_t>(pipeline.p),
                           StageTime{kase.cluster.table.forward, kase.cluster.table.backward});
  const auto end_with = [&](int factor) {  // a warm-up of so many times p - r - 1
    std::vector<Order> orders;
    for (int r = 0; r < pipeline.p; ++r) orders.push_back(order_of(pipeline, factor * (pipeline.p - r - 1)));
    return end_along(pipeline, orders, stages, Nanos(2'000'000));
  };
  int factor = 1;
  while (end_with(factor + 1) < end_with(factor)) ++factor;
  const Formula<Count> others = folded(named("p", Count(pipeline.p)) - 1);
  predict.answer(1)
      .count(
          "in_flight",
          "Let alpha be 2 ms, with stages of 1 + 2 ms, 32 micro-batches, and any number of messages on their way. How "
          "many micro-batches are in flight on rank 0, with the shortest warm-up that hides the latency?",
          named("factor", Count(factor)) * others + 1, "micro-batches")
      .unlike(2 * others + 1, "That warm-up hides a round trip of one turn. Here 2 alpha is longer than F + B.")
      .unlike(Count(kase.micro_batches), "There are 32 of them now, more than the warm-up takes.")
      .unlike(named("factor", Count(factor)) * others, "That is the warm-up. A turn begins with a forward, too.");
}
