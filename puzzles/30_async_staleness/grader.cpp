// Judges asynchronous updates: the weights that follow from the order in which gradients came, how old they were, that
// nobody is further ahead than allowed and nobody waits without need, time, bytes and memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/messages.h"
#include "grading/formulas/staleness.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"
#include "plan.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

// ---- What the server did ----

/// A message of the server's, in the order of its calls.
struct ServerMessage {
  std::uint64_t order;
  bool pushed;  ///< a gradient came; else weights went
  int worker;
  wire::Place place;
};

std::vector<ServerMessage> messages_of_server(const CheckContext& check) {
  std::vector<ServerMessage> all;
  for (const EventKind kind : {EventKind::recv, EventKind::send}) {
    for (const Event& event : check.events(0, kind)) {
      all.push_back({event.order, kind == EventKind::recv, event.peer, place_of(event)});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  return all;
}

/// Ways to update, the right one first.
struct Updating {
  double sign = -1;
  int added_to_staleness = 0;      ///< in the rate
  bool rate_as_asked = true;       ///< false: the other one of the two
  bool squared_root = false;       ///< of the staleness in the rate
  bool divided = false;            ///< by N
  bool sends_old_weights = false;  ///< what goes out lacks the last update
  bool all_but_last = false;       ///< the last gradient of all is not applied
  bool all_but_each_last = false;  ///< nor is the last one of any worker
};

/// What follows from the messages of the server, and what was wrong with them.
struct Course {
  std::vector<double> weights;
  std::vector<float> staleness;
  std::vector<float> since_it_came;  ///< counted from the version when the worker's last gradient was applied
  int most_ahead = 0;                ///< batches of a worker over the least of all, when it got weights
  std::int64_t held = 0;             ///< times that a worker was kept waiting without need
  std::int64_t late_starts = 0;      ///< workers whose first weights were not version 0
  wire::Place ahead_at, held_at, late_start_at;
};

class Replay {
 public:
  explicit Replay(const CheckContext& check)
      : kase_(check.kase()), plan_(kase_), messages_(messages_of_server(check)) {}

  Course run(const Updating& how) const {
    Course course;
    course.weights = numbers(AsyncPlan::weights());
    std::vector<double> before = course.weights;
    const auto n = static_cast<std::size_t>(plan_.workers) + 1;
    std::vector<std::vector<double>> has(n);
    std::vector<int> version(n, 0), came_at(n, 0), pushed(n, 0), got(n, 0);
    int now = 0;
    for (const ServerMessage& message : messages_) {
      const auto w = static_cast<std::size_t>(message.worker);
      if (message.pushed == (got[w] == pushed[w]))
        continue;  // more than a batch needs: its bytes are counted elsewhere
      if (message.pushed) {
        note_held(course, pushed, got, message.place);
        const int staleness = now - version[w];
        course.staleness.push_back(static_cast<float>(staleness));
        course.since_it_came.push_back(static_cast<float>(now - came_at[w]));
        before = course.weights;
        if (!has[w].empty() && !leaves_out(how, now, pushed[w])) {
          apply(course.weights, has[w], message.worker, how, staleness);
        }
        came_at[w] = ++now;
        ++pushed[w];
      } else {
        note_ahead(course, pushed, message);
        if (got[w] == 0 && now > 0 && course.late_starts++ == 0) course.late_start_at = message.place;
        has[w] = how.sends_old_weights ? before : course.weights;
        version[w] = now;
        ++got[w];
      }
    }
    return course;
  }

 private:
  std::vector<double> numbers(int which) const {
    const std::vector<float> drawn = normals_of(kase_, which, plan_.size);
    return {drawn.begin(), drawn.end()};
  }

  /// A gradient before which so many have come, and so many of its worker.
  bool leaves_out(const Updating& how, int all, int own) const {
    return (how.all_but_last && all + 1 == plan_.workers * plan_.steps) ||
           (how.all_but_each_last && own + 1 == plan_.steps);
  }

  static int least(const std::vector<int>& pushed) { return *std::min_element(pushed.begin() + 1, pushed.end()); }

  void note_ahead(Course& course, const std::vector<int>& pushed, const ServerMessage& message) const {
    const int ahead = pushed[static_cast<std::size_t>(message.worker)] - least(pushed);
    if (ahead <= course.most_ahead) return;
    course.most_ahead = ahead;
    course.ahead_at = message.place;
  }
  /// Before the server looks at the next gradient, all that may go on have got their weights.
  void note_held(Course& course, const std::vector<int>& pushed, const std::vector<int>& got,
                 const wire::Place& place) const {
    for (std::size_t w = 1; w < pushed.size(); ++w) {
      const bool waits = got[w] == pushed[w] && pushed[w] < plan_.steps;
      if (!waits || (plan_.bound >= 0 && pushed[w] - least(pushed) > plan_.bound)) continue;
      if (course.held++ == 0) course.held_at = place;
    }
  }

  void apply(std::vector<double>& weights, const std::vector<double>& seen, int worker, const Updating& how,
             int staleness) const {
    const std::vector<double> target = numbers(AsyncPlan::target(worker));
    double rate = plan_.lr;
    if (plan_.by_staleness == how.rate_as_asked) {
      const double divisor = std::max(1, staleness + how.added_to_staleness);
      rate /= how.squared_root ? std::sqrt(divisor) : divisor;
    }
    if (how.divided) rate /= plan_.workers;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] += how.sign * rate * static_cast<double>(plan_.curvature) * (seen[i] - target[i]);
    }
  }

  const Case& kase_;
  AsyncPlan plan_;
  std::vector<ServerMessage> messages_;
};

/// lr / 0 is infinite, and so are weights that it updates; infinity minus infinity is not a number.
bool divided_by_zero(const std::vector<double>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](double w) { return !std::isfinite(w); });
}

void diagnose_output(CheckContext& check, const Replay& replay) {
  const Layers right{replay.run({}).weights};
  const Output* output = check.output("weights_of_server");
  if (output == nullptr) return;
  const Layers found{{output->values.begin(), output->values.end()}};
  const std::vector<float> ages = replay.run({}).staleness;
  const bool new_ones = std::find(ages.begin(), ages.end(), 0.0F) != ages.end();
  if (AsyncPlan(check.kase()).by_staleness && new_ones && divided_by_zero(found.front())) {
    return check.diagnose("divided_by_zero");
  }
  const std::pair<const char*, Updating> mistakes[] = {
      {"moved_uphill", {.sign = 1}},
      {"staleness_too_large", {.added_to_staleness = 1}},
      {"staleness_not_in_rate", {.rate_as_asked = false}},
      {"root_of_staleness", {.squared_root = true}},
      {"divided_by_workers", {.divided = true}},
      {"old_weights", {.sends_old_weights = true}},
      {"last_not_applied", {.all_but_last = true}},
      {"last_not_applied", {.all_but_each_last = true}},
  };
  for (const auto& [id, how] : mistakes) {
    const Layers mistaken{replay.run(how).weights};
    if (!alike(mistaken, right) && alike(found, mistaken)) return check.diagnose(id);
  }
}

/// The numbers that serve has returned are not those of the messages.
void diagnose_staleness(CheckContext& check, const Course& course) {
  const Output* output = check.output("staleness");
  if (output == nullptr || output->values.size() != course.staleness.size()) return;
  bool one_more = true;
  for (std::size_t i = 0; i < course.staleness.size(); ++i) {
    one_more = one_more && output->values[i] == course.staleness[i] + 1;
  }
  if (one_more) return check.diagnose("counted_itself");
  check.diagnose(output->values == course.since_it_came ? "version_when_it_came" : "version_of_another_time");
}

// ---- Time ----

struct BatchTime {
  explicit BatchTime(const Case& kase)
      : plan(kase),
        operation(kase.cluster.roofline.launch),
        n(named("N", Count(plan.workers))),
        message(named("alpha", kase.cluster.links.front().latency) +
                named("weights / W", transfer_time(kase, plan.size))),
        server(named("server", 4 * operation)) {}

  Formula<Nanos> gradient(int slowness) const {
    constexpr int kPieces = 40;
    return named(slowness > 1 ? "slow gradient" : "gradient", (2 + kPieces * slowness) * operation);
  }
  /// Of a worker of which the server may be busy with all others.
  Formula<Nanos> batch(int slowness) const { return gradient(slowness) + message + n * (message + server); }
  Formula<Nanos> all(int worker) const {
    const int own = plan.slowness_of(worker);
    const Formula<Nanos> alone = named("steps", Count(plan.steps)) * batch(own);
    if (plan.bound < 0 || plan.all_are_equal() || own > 1) return alone;
    const Count with_slow = std::max(0, plan.steps - 1 - plan.bound), rest = plan.steps - with_slow;
    return named("steps - 1 - bound", with_slow) * batch(plan.slowness) + named("the rest", rest) * batch(own);
  }

  AsyncPlan plan;
  Nanos operation;
  Formula<Count> n;
  Formula<Nanos> message, server;
};

// ---- Memory ----

Formula<Bytes> memory_budget(const AsyncPlan& plan, int rank) {
  const Formula<Bytes> weights = named("weights", Bytes(plan.size * kBytesOfF32));
  if (rank == 0) return (named("N", Count(plan.workers)) + 2) * weights;
  return named("target", weights.value()) + 4 * weights;
}

/// Updates with this staleness of equal workers: the first round counts up to it.
Formula<Count> updates_in_steady_state(const AsyncPlan& plan) {
  return named("N (steps-1) + 1", Count(plan.workers) * (plan.steps - 1) + 1);
}

/// Of lr times curvature.
Formula<Count> threshold_in_thousandths(int staleness) {
  return named(fmt::format("2000 sin(pi / (2 (2 x {} + 1)))", staleness),
               Count(std::llround(1000 * divergence_threshold(staleness))));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (!messages_only(check)) return;
  const Replay replay(check);
  const Course course = replay.run({});
  constexpr double kTolerance = 1e-4;
  if (!check.equal("weights_of_server", course.weights, kTolerance)) return diagnose_output(check, replay);
  if (check.identical("staleness", course.staleness)) return;
  diagnose_staleness(check, course);
}

SHARDLINGS_CHECK(staleness) {
  const AsyncPlan plan(check.kase());
  const Course course = Replay(check).run({});
  if (!check.exactly("workers whose first weights were not version 0", course.late_starts, Formula<Count>(0), "workers",
                     course.late_start_at)) {
    return check.diagnose("first_not_version_0");
  }
  if (plan.bound >= 0 && !check.at_most("batches that a worker was ahead of the last one", course.most_ahead,
                                        named("bound", Count(plan.bound)), "batches", course.ahead_at)) {
    return check.diagnose("bound_broken");
  }
  if (!check.exactly("workers that were kept waiting without need", course.held, Formula<Count>(0), "times",
                     course.held_at)) {
    return check.diagnose(receives_from_any(check, 0) ? "held_without_need" : "fixed_order");
  }
  if (plan.bound < 0 && plan.all_are_equal() && plan.workers > 1) {
    const auto steady = static_cast<float>(plan.workers - 1);
    check.exactly(fmt::format("updates with staleness {}", plan.workers - 1),
                  std::count(course.staleness.begin(), course.staleness.end(), steady), updates_in_steady_state(plan),
                  "updates");
  }
}

/// Operations of a worker's gradients: its computing takes as long as the case says only if it makes all of them.
bool computes_all(CheckContext& check, const AsyncPlan& plan) {
  constexpr int kPieces = 40;
  for (int worker = 1; worker < check.ranks(); ++worker) {
    const Formula<Count> pieces =
        named("steps", Count(plan.steps)) * named("40 slowness", Count(kPieces * plan.slowness_of(worker)));
    if (check.at_least("scale in the gradients of " + check.name_of(worker), num_calls(check, worker, "scale"), pieces,
                       "calls")) {
      continue;
    }
    check.diagnose("computed_too_fast");
    return false;
  }
  return true;
}

SHARDLINGS_CHECK(time) {
  const BatchTime time(check.kase());
  if (!computes_all(check, time.plan)) return;
  for (int worker = 1; worker < check.ranks(); ++worker) {
    if (check.at_most("virtual time of " + check.name_of(worker), check.end_time(worker), time.all(worker),
                      check.place_of_last(worker, EventKind::recv))) {
      continue;
    }
    if (num_calls(check, worker, "axpy") > time.plan.steps) return check.diagnose("computed_again");
    return check.diagnose(receives_from_any(check, 0) ? "waits_for_others" : "fixed_order");
  }
}

SHARDLINGS_CHECK(communication) {
  const AsyncPlan plan(check.kase());
  const Formula<Bytes> weights = named("weights", Bytes(plan.size * kBytesOfF32));
  const Formula<Count> steps = named("steps", Count(plan.steps));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> budget = rank == 0 ? named("N", Count(plan.workers)) * steps * weights : steps * weights;
    if (check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(), budget,
                      check.place_of_last(rank, EventKind::send))) {
      continue;
    }
    return check.diagnose("sent_again");
  }
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const AsyncPlan plan(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.peak_at_most(rank, memory_budget(plan, rank))) continue;
    return check.diagnose(rank == 0 ? "server_keeps_more" : "worker_keeps_more");
  }
}

SHARDLINGS_PREDICTIONS("4 equal workers") {
  const AsyncPlan plan(predict.kase());
  const Formula<Bytes> weights = named("weights", Bytes(plan.size * kBytesOfF32));
  const Formula<Count> n = named("N", Count(plan.workers)), steps = named("steps", Count(plan.steps));
  predict
      .count("oldest", "How many of all updates have the largest staleness that there is?",
             updates_in_steady_state(plan), "updates")
      .unlike(n * (steps - 1), "In the first round the last worker to come is as late as that, too.")
      .unlike(n * steps, "In the first round all compute with version 0: what has changed when the first one comes?");
  predict.sent("sent", 0, "How many bytes does the server send in all?", n * steps * weights)
      .unlike(n * (steps + 1) * weights, "After its last gradient a worker needs no more weights.");
  predict
      .count("threshold", "From which lr times curvature on does training diverge, in thousandths?",
             threshold_in_thousandths(plan.workers - 1), "thousandths")
      .unlike(Count(2000), "That is without staleness.")
      .unlike(Count(2000 / plan.workers), "It falls like 1/N, but the number before it is another one.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 equal workers") {
  predict.answer(1)
      .count("sixteen", "From which lr times curvature on do 16 equal workers diverge, in thousandths?",
             threshold_in_thousandths(15), "thousandths")
      .unlike(threshold_in_thousandths(16), "N workers have a staleness of N-1.");
}
