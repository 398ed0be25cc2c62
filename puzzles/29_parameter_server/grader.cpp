// Judges servers and workers: the table after all steps, the bytes of servers, that nobody waits for slow workers who
// have a backup, and memory.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/messages.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/formulas/training.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/predictions.h"
#include "plan.h"
#include "replay.h"
#include "table_training.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

/// Some of the late workers are in time again later: what counts follows from the order of the messages.
bool catches_up(const Case& kase) {
  return kase.numbers.count("catch_up") > 0;
}

std::vector<ServerCourse> courses(const CheckContext& check, const Late& how) {
  std::vector<ServerCourse> all;
  const int servers = ServerPlan(check.kase()).servers;
  for (int s = 0; s < servers; ++s) all.push_back(ServerReplay(check, s).run(how));
  return all;
}

Layers replayed(const CheckContext& check, const Late& how) {
  Layers tables;
  for (ServerCourse& course : courses(check, how)) tables.push_back(std::move(course.table));
  return tables;
}

bool never_written(const Layers& found) {
  for (const auto& table : found) {
    if (std::any_of(table.begin(), table.end(), [](double x) { return std::isnan(x); })) return true;
  }
  return false;
}

void diagnose_late(CheckContext& check, const Layers& found) {
  const Layers right = replayed(check, {});
  const std::pair<const char*, Late> mistakes[] = {
      {"late_ones_added", {.added = true}},  {"late_ones_added", {.counted = true}},
      {"late_rows", {.old_rows = true}},     {"late_rows", {.mid_step = true}},
      {"late_rows", {.own_gradient = true}}, {"divided_by_row", {.by_row = true}},
  };
  for (const auto& [id, how] : mistakes) {
    const Layers mistaken = replayed(check, how);
    if (!alike(mistaken, right) && alike(found, mistaken)) return check.diagnose(id);
  }
}

void diagnose_output(CheckContext& check, const Layers& found) {
  const ServerPlan plan(check.kase());
  if (never_written(found)) return check.diagnose("never_written");
  if (plan.backups > 0 && !receives_from_any(check, 0)) return check.diagnose("fixed_order");
  if (catches_up(check.kase())) return diagnose_late(check, found);
  const TableTraining training(check.kase());
  const Layers right = training.run({});
  const double counted = plan.workers - plan.backups;
  const std::pair<const char*, Averaging> mistakes[] = {
      {"summed", {.divisor = 1}},
      {"divided_by_all", {.divisor = static_cast<double>(plan.workers)}},
      {"moved_uphill", {.sign = 1}},
      {"sum_kept", {.keeps_sums = true}},
      {"rows_of_next_batch", {.next_rows = true}},
      {"old_rows", {.stale = 1}},
      {"old_rows", {.stale = plan.steps}},
      {"backups_fixed", {.never = 0}},
      {"backups_fixed", {.never = plan.workers - plan.backups}},
      {"waits_for_slow", {.slow_ones_too = true}},
      {"waits_for_slow", {.slow_ones_too = true, .divisor = counted}},
  };
  for (const auto& [id, how] : mistakes) {
    const Layers mistaken = training.run(how);
    if (!alike(mistaken, right) && alike(found, mistaken)) return check.diagnose(id);
  }
  diagnose_late(check, found);
}

/// The rows of a batch, from all servers, as they were to be sent; empty if one of them has sent none.
SentRows rows_of_batch(const std::vector<ServerCourse>& courses, int worker, int step) {
  SentRows all;
  for (const ServerCourse& course : courses) {
    const auto found = course.sent.find(worker);
    if (found == course.sent.end() || found->second.size() <= static_cast<std::size_t>(step)) return {};
    const SentRows& part = found->second[static_cast<std::size_t>(step)];
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
    all.late = all.late || part.late;
  }
  return all;
}

/// Something that was never written is among the rows of this worker's batches.
bool has_unwritten_rows(const CheckContext& check, const ServerPlan& plan, int worker) {
  for (int step = 0; step < plan.steps; ++step) {
    const Output* found = check.output(ServerPlan::seen(worker, step));
    if (found != nullptr && never_written({{found->values.begin(), found->values.end()}})) return true;
  }
  return false;
}

/// Each batch was computed with the rows that its worker should have got. Of late workers the table would not show it,
/// as long as they are late. Messages too many are for another check.
void check_rows(CheckContext& check, double tolerance) {
  const ServerPlan plan(check.kase());
  for (int s = 0; s < plan.servers; ++s) {
    if (!ServerReplay(check, s).is_as_planned()) return;
  }
  const std::vector<ServerCourse> right = courses(check, {});
  for (int worker = 0; worker < plan.workers; ++worker) {
    for (int step = 0; step < plan.steps; ++step) {
      const std::string name = ServerPlan::seen(worker, step);
      const SentRows expected = rows_of_batch(right, worker, step);
      if (check.equal(name, expected.rows, tolerance)) continue;
      check.detail(fmt::format("{}: the rows that {} has computed its batch {} with", name,
                               check.name_of(plan.servers + worker), step));
      if (has_unwritten_rows(check, plan, worker)) return check.diagnose("rows_unwritten");
      if (expected.late) check.diagnose("late_rows");
      return;
    }
  }
}

// ---- Bytes ----

struct ServerBytes {
  ServerBytes(const Case& kase, int server)
      : plan(kase),
        rounds(named("N", Count(plan.workers)) * named("steps", Count(plan.steps))),
        rows(named("rows of a batch", Bytes(plan.touched(server) * plan.hidden * kBytesOfF32))),
        ids(named("ids", Bytes(plan.touched(server) * kBytesOfF32))) {}
  ServerPlan plan;
  Formula<Count> rounds;
  Formula<Bytes> rows, ids;
  Formula<Bytes> sent() const { return rounds * rows; }
  Formula<Bytes> received() const { return rounds * (rows + ids); }
};

Bytes bytes_received(const CheckContext& check, int rank) {
  Bytes all;
  for (const auto& [key, traffic] : check.counters(rank).traffic) all += traffic.received;
  return all;
}

// ---- Time ----

/// What a message of server 0's share takes, and what the ranks do in between.
struct StepTime {
  explicit StepTime(const Case& kase)
      : plan(kase),
        alpha(named("alpha", kase.cluster.links.front().latency)),
        rows(named("rows / W", transfer_time(kase, plan.touched(0) * plan.hidden))),
        ids(named("ids / W", transfer_time(kase, plan.touched(0)))),
        adding(named("adding up", operations(kase, plan.touched(0) * plan.hidden))),
        updating(named("update", operations(kase, 2 * plan.rows_of(0) * plan.hidden))),
        n(named("N", Count(plan.workers))),
        s(named("S", Count(plan.servers))) {}

  static Nanos operations(const Case& kase, Count flops) {
    return Nanos(std::llround(static_cast<double>(flops) / kase.cluster.roofline.flops_per_second * 1e9));
  }
  /// Of a worker's gradient.
  Formula<Nanos> computing(const Case& kase, bool slow) const {
    const Count all = plan.touched_in_all() * plan.hidden;
    const Nanos off = operations(kase, 2 * all), product = operations(kase, 2 * all * plan.hidden);
    return named(slow ? "slow worker" : "worker", off + (slow ? plan.slowness : 1) * product);
  }
  /// `slow`: the step waits for slow workers.
  Formula<Nanos> step(const Case& kase, bool slow) const {
    return computing(kase, slow) + alpha + s * rows + (s - 1) * (rows + ids) + n * (rows + ids + 2 * alpha + adding) +
           updating;
  }
  Formula<Nanos> run(const Case& kase, bool slow) const {
    return in_all_steps(kase, step(kase, slow)) + n * (alpha + ids) + s * ids;
  }

  ServerPlan plan;
  Formula<Nanos> alpha, rows, ids, adding, updating;
  Formula<Count> n, s;
};

Formula<Nanos> time_budget(const Case& kase) {
  const ServerPlan plan(kase);
  return and_percent(StepTime(kase).run(kase, plan.slow > 0 && plan.backups == 0), 3);
}

/// The last one to end of the workers that a step waits for.
int last_worker(const CheckContext& check, const ServerPlan& plan) {
  int last = -1;
  for (int w = 0; w < plan.workers; ++w) {
    if (plan.backups > 0 && plan.is_slow(w)) continue;
    if (last < 0 || check.end_time(plan.servers + w) > check.end_time(last)) last = plan.servers + w;
  }
  return last;
}

/// Worker `rank` called for the next server only after the message before had ended, in some batch.
bool in_turn(const CheckContext& check, const ServerPlan& plan, int rank, EventKind kind) {
  std::vector<Event> rows;
  for (const Event& event : check.events(rank, kind)) {
    if (event.peer >= plan.servers) continue;
    const Bytes gradient(plan.touched(event.peer) * plan.hidden * kBytesOfF32);
    if (kind == EventKind::recv || event.bytes == gradient) rows.push_back(event);
  }
  std::sort(rows.begin(), rows.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  const auto each = static_cast<std::size_t>(plan.servers);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (i % each != 0 && rows[i].posted >= rows[i - 1].end) return true;
  }
  return false;
}

/// Server 0 computes more than twice as long as it takes to add up all gradients and to update its table.
bool adds_too_much(const CheckContext& check) {
  const StepTime time(check.kase());
  Nanos computed;
  for (const Event& event : check.events(0, EventKind::operation)) computed += event.end - event.begin;
  return computed > 2 * in_all_steps(check.kase(), time.n * time.adding + time.updating).value();
}

void diagnose_time(CheckContext& check, const ServerPlan& plan, int rank) {
  if (num_calls(check, rank, "matmul") > plan.steps) return check.diagnose("computed_again");
  if (adds_too_much(check)) return check.diagnose("server_adds_too_much");
  const Nanos slow = StepTime(check.kase()).computing(check.kase(), true).value();
  if (plan.backups > 0 && check.end_time(rank) > plan.steps * slow) {
    return check.diagnose(receives_from_any(check, 0) ? "waits_for_slow" : "fixed_order");
  }
  if (in_turn(check, plan, rank, EventKind::recv) || in_turn(check, plan, rank, EventKind::send)) {
    check.diagnose("servers_in_turn");
  }
}

// ---- Memory ----

Formula<Bytes> memory_budget(const ServerPlan& plan, int rank) {
  const Bytes row(plan.hidden * kBytesOfF32), id(kBytesOfF32);
  if (rank < plan.servers) {
    const Formula<Bytes> table = named("table", plan.rows_of(rank) * row),
                         rows = named("rows", plan.touched(rank) * row);
    const Formula<Count> n = named("N", Count(plan.workers));
    return 2 * table + (n + 1) * rows + n * 2 * named("ids", plan.touched(rank) * id);
  }
  const Formula<Bytes> rows = named("rows", plan.touched_in_all() * row);
  return named("steps", Count(plan.steps)) *
             (named("wanted", plan.touched_in_all() * row) + named("seen", plan.touched_in_all() * row) +
              named("ids", plan.touched_in_all() * id)) +
         named("curvature", plan.hidden * row) + 4 * rows;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (!messages_only(check)) return;
  const ServerPlan plan(check.kase());
  const Layers right = catches_up(check.kase()) ? replayed(check, {}) : TableTraining(check.kase()).run({});
  constexpr double kTolerance = 2e-4;
  for (int s = 0; s < plan.servers; ++s) {
    const auto server = static_cast<std::size_t>(s);
    if (check.equal(fmt::format("server.{}", s), right[server], kTolerance)) continue;
    return diagnose_output(check, found_layers(check.result(), "server"));
  }
  check_rows(check, kTolerance);
}

SHARDLINGS_CHECK(communication) {
  for (int s = 0; s < ServerPlan(check.kase()).servers; ++s) {
    const ServerBytes bytes(check.kase(), s);
    const Bytes sent = check.counters(s).bytes_sent(), received = bytes_received(check, s);
    if (!check.at_most("sent by " + check.name_of(s), sent, bytes.sent(), check.place_of_last(s, EventKind::send))) {
      return check.diagnose("sent_again");
    }
    if (!check.at_most("received by " + check.name_of(s), received, bytes.received(),
                       check.place_of_last(s, EventKind::recv))) {
      return check.diagnose("sent_again");
    }
  }
}

SHARDLINGS_CHECK(time) {
  const ServerPlan plan(check.kase());
  for (int s = 0; s < plan.servers; ++s) {
    const ServerCourse course = ServerReplay(check, s).run({});
    if (!check.exactly("late workers without rows when " + check.name_of(s) + " received the next gradient",
                       course.held, Formula<Count>(0), "times", course.held_at)) {
      return check.diagnose("late_ones_held");
    }
  }
  const int rank = last_worker(check, plan);
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), time_budget(check.kase()),
                    check.place_of_last(rank, EventKind::recv))) {
    return;
  }
  diagnose_time(check, plan, rank);
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const ServerPlan plan(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.peak_at_most(rank, memory_budget(plan, rank))) continue;
    return check.diagnose(rank < plan.servers ? "server_keeps_more" : "worker_keeps_more");
  }
}

/// A gradient of each batch; on slow workers it takes as many products as they are slow.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const ServerPlan plan(check.kase());
  Count products = 0;
  for (int w = 0; w < plan.workers; ++w) products += plan.is_slow(w) ? plan.slowness : 1;
  return named("steps", Count(plan.steps)) * named("gradients of a step", products) *
         named("2 K h h", Flops(2 * plan.touched_in_all() * plan.hidden * plan.hidden));
}

/// What a rank of a ring all-reduce of so many workers' gradients sends, over what one server for all would send.
Formula<Count> servers_like_ring(const ServerPlan& plan) {
  const Count n = plan.workers, twice = 2 * (n - 1);
  return named("N² / (2 (N-1)), rounded up", (n * n + twice - 1) / twice);
}

SHARDLINGS_PREDICTIONS("4 workers, 2 servers") {
  const Case& kase = predict.kase();
  const ServerBytes bytes(kase, 0);
  const StepTime time(kase);
  predict.sent("sent", 0, "How many bytes does server 0 send in all steps?", bytes.sent())
      .unlike(bytes.sent() + bytes.received(), "That is what goes in and out.")
      .unlike(named("steps", Count(kase.steps)) * bytes.rows, "Each of the workers gets rows.");
  predict
      .number("pull", "How long after the end of a step has the last worker the rows of server 0?",
              time.alpha + time.n * time.rows)
      .unlike(time.n * (time.alpha + time.rows), "All replies are posted at once, so their latencies do not add up.")
      .unlike(time.alpha + time.rows, "A server's link sends one reply after another.");
  predict
      .count("servers", "With how many servers does a server send no more than a rank of the ring?",
             servers_like_ring(bytes.plan), "servers")
      .unlike(Count(bytes.plan.workers), "Of N parts a rank of the ring keeps one, and it sends each part twice.");
}

SHARDLINGS_PREDICTIONS_AFTER("5 workers, one of them slow and one a backup") {
  const Case& kase = predict.kase();
  Case without = kase;
  without.numbers["backups"] = 0;
  const StepTime time(without);
  predict.answer(1)
      .number("without", "How long would the slow worker compute in the six steps, if all waited for it?",
              in_all_steps(without, time.computing(without, true)))
      .unlike(in_all_steps(without, time.computing(without, false)), "That is one of the other workers.")
      .unlike(named("steps", Count(kase.steps)) * (3 * time.computing(without, false)),
              "Only the product takes three times as long; rows - wanted is computed once.");
  Case many = kase;
  many.ranks = 64 + 1;
  predict.answer(2)
      .count("ring", "From how many servers on does a server of 64 workers send no more than a rank of their ring?",
             servers_like_ring(ServerPlan(many)), "servers")
      .unlike(Count(64), "2 (N-1)/N is nearly 2.");
}
