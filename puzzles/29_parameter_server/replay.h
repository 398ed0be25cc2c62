// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What follows from the order in which a server of puzzle 29 got gradients and sent rows: which gradients were late,
// and what the table has to be. So a late worker's rows are judged by what becomes of them.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "grading/formulas/training.h"
#include "plan.h"

namespace shardlings {

/// What happens to late gradients and their workers, the right way first.
struct Late {
  bool added = false;         ///< to the sum, but not counted
  bool counted = false;       ///< as if they were in time
  bool old_rows = false;      ///< their workers get the rows of the old batch again
  bool mid_step = false;      ///< rows with the gradients of the running step in them
  bool own_gradient = false;  ///< rows with the gradient that was thrown away in them
  bool by_row = false;        ///< each row is divided by how many workers needed it
};

/// Rows that went to a worker for a batch.
struct SentRows {
  std::vector<double> rows;
  bool late = false;  ///< its gradient before was late
};

struct ServerCourse {
  std::vector<double> table;
  std::map<int, std::vector<SentRows>> sent;  ///< by worker, a batch after another
  std::int64_t held = 0;                      ///< late workers that had no rows when the next gradient was received
  wire::Place held_at;
};

/// One server's messages in the order of its calls.
class ServerReplay {
 public:
  ServerReplay(const grader::CheckContext& check, int server) : kase_(check.kase()), plan_(kase_), server_(server) {
    for (int s = 0; s < server; ++s) first_row_ += plan_.touched(s);
    std::map<int, std::vector<Bytes>> pushed;
    for (int w = 0; w < plan_.workers; ++w) {
      for (const front::Event& event : in_order(check.events(plan_.servers + w, front::EventKind::send))) {
        if (event.peer == server) pushed[w].push_back(event.bytes);
      }
    }
    std::vector<front::Event> all = check.events(server, front::EventKind::recv);
    for (const front::Event& event : check.events(server, front::EventKind::send)) all.push_back(event);
    std::vector<std::size_t> received(static_cast<std::size_t>(plan_.workers));
    const Bytes gradient(plan_.touched(server) * plan_.hidden * grader::kBytesOfF32);
    for (const front::Event& event : in_order(std::move(all))) {
      const int worker = event.peer - plan_.servers;
      if (worker < 0 || worker >= plan_.workers) continue;
      const bool sent = event.kind == front::EventKind::send;
      if (!sent) {
        const std::size_t number = received[static_cast<std::size_t>(worker)]++;
        if (number >= pushed[worker].size() || pushed[worker][number] != gradient) continue;  // ids
      }
      messages_.push_back({sent, worker, grader::place_of(event)});
    }
  }

  /// Each worker gets rows and pushes a gradient once for each batch, and nothing else of that size.
  bool is_as_planned() const {
    std::map<std::pair<int, bool>, int> number;
    for (const Message& message : messages_) ++number[{message.worker, message.sent}];
    return static_cast<int>(number.size()) == 2 * plan_.workers &&
           std::all_of(number.begin(), number.end(), [&](const auto& each) { return each.second == plan_.steps; });
  }

  ServerCourse run(const Late& how) const {
    ServerCourse course;
    course.table = numbers(plan_.table(server_), plan_.rows_of(server_));
    State now(course.table.size(), static_cast<std::size_t>(plan_.workers));
    for (const Message& message : messages_) {
      Worker& worker = now.workers[static_cast<std::size_t>(message.worker)];
      if (message.sent) {
        answer(course, now, worker, message.worker, how);
      } else if (worker.pushes < plan_.steps && !worker.rows.empty()) {
        receive(course, now, worker, message, how);
      }
    }
    return course;
  }

 private:
  struct Message {
    bool sent;  ///< rows went; else a gradient came
    int worker;
    wire::Place place;
  };
  struct Worker {
    int pushes = 0, got = 0;
    int batch = 0;      ///< whose ids the server has
    bool owed = false;  ///< its last gradient was late, and it has no rows yet
    std::vector<double> rows, gradient;
  };
  struct State {
    State(std::size_t size, std::size_t n) : sum(size), hits(size), workers(n) {}
    std::vector<double> sum, hits;
    std::vector<Worker> workers;
    int step = 0, taken = 0;
  };

  static std::vector<front::Event> in_order(std::vector<front::Event> events) {
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    return events;
  }
  std::vector<double> numbers(int which, Count rows) const {
    const std::vector<float> drawn = normals_of(kase_, which, rows * plan_.hidden);
    return {drawn.begin(), drawn.end()};
  }

  void answer(ServerCourse& course, const State& now, Worker& worker, int number, const Late& how) const {
    if (worker.got++ >= plan_.steps) return;
    const bool late = std::exchange(worker.owed, false);
    const auto h = static_cast<std::size_t>(plan_.hidden);
    const double share = static_cast<double>(plan_.lr) / (plan_.workers - plan_.backups);
    const std::vector<double> before = std::exchange(worker.rows, {});
    for (const std::int32_t id : plan_.ids(number, worker.batch, server_)) {
      for (std::size_t k = 0; k < h; ++k) {
        const std::size_t at = static_cast<std::size_t>(id) * h + k;
        double value = course.table[at];
        if (late && how.mid_step) value -= share * now.sum[at];
        if (late && how.own_gradient) value -= static_cast<double>(plan_.lr) * worker.gradient[worker.rows.size()];
        worker.rows.push_back(value);
      }
    }
    course.sent[number].push_back({worker.rows, late});
  }

  void receive(ServerCourse& course, State& now, Worker& worker, const Message& message, const Late& how) const {
    for (const Worker& each : now.workers) {
      if (each.owed && course.held++ == 0) course.held_at = message.place;
    }
    const bool late = worker.pushes < now.step && !how.counted;
    worker.gradient = gradient(worker.rows, message.worker, worker.pushes);
    if (!late || how.added) add(now, plan_.ids(message.worker, worker.batch, server_), worker.gradient);
    if (!late) ++now.taken;
    ++worker.pushes;
    if (!(late && how.old_rows)) worker.batch = std::min(worker.pushes, plan_.steps - 1);
    worker.owed = late && worker.pushes < plan_.steps;
    if (now.taken == plan_.workers - plan_.backups) end_step(course, now, how);
  }

  std::vector<double> gradient(const std::vector<double>& rows, int worker, int batch) const {
    const auto h = static_cast<std::size_t>(plan_.hidden);
    const std::vector<double> wanted = numbers(plan_.wanted(worker, batch), plan_.touched_in_all());
    const std::vector<double> curvature = numbers(ServerPlan::curvature(), plan_.hidden);
    std::vector<double> result(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row = i / h;
      for (std::size_t k = 0; k < h; ++k) {
        const double off = rows[row * h + k] - wanted[static_cast<std::size_t>(first_row_) * h + row * h + k];
        result[i] += off * curvature[k * h + i % h];
      }
    }
    return result;
  }

  void add(State& now, const std::vector<std::int32_t>& ids, const std::vector<double>& gradient) const {
    const auto h = static_cast<std::size_t>(plan_.hidden);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(ids[i / h]) * h + i % h;
      now.sum[at] += gradient[i];
      ++now.hits[at];
    }
  }

  void end_step(ServerCourse& course, State& now, const Late& how) const {
    for (std::size_t i = 0; i < now.sum.size(); ++i) {
      const double divisor = how.by_row ? std::max(1.0, now.hits[i]) : now.taken;
      course.table[i] -= static_cast<double>(plan_.lr) / divisor * now.sum[i];
      now.sum[i] = now.hits[i] = 0;
    }
    now.taken = 0;
    ++now.step;
  }

  const cases::Case& kase_;
  ServerPlan plan_;
  int server_;
  Count first_row_ = 0;  ///< of this server's among the rows of a batch
  std::vector<Message> messages_;
};

}  // namespace shardlings
