/// \file
/// The cases of a puzzle at work: their runs, two side by side, and their references, each computed once.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "case/case.h"
#include "grading/reference/reference.h"
#include "grading/run/crew.h"
#include "grading/run/supervisor.h"
#include "submission/wire/result.h"
#include "world/backend.h"

namespace shardlings::grading::run {

class CaseRuns {
 public:
  /// `mpi`: how the processes of a backend that needs them are started (to_text() in mpirun.h).
  explicit CaseRuns(std::vector<cases::Case> cases, world::Backend backend = world::Backend::cpu, std::string mpi = "");
  ~CaseRuns();
  CaseRuns(const CaseRuns&) = delete;
  CaseRuns& operator=(const CaseRuns&) = delete;

  world::Backend backend() const { return backend_; }
  std::size_t size() const { return entries_.size(); }
  const cases::Case& kase(std::size_t i) const { return entries_[i].kase; }

  /// Computes the references of cases with a model in the background, while something else is awaited; or what
  /// `instead` computes of each case.
  void start_references(const std::function<void(const cases::Case&)>& instead = {});
  /// Runs the submission on every case; returns when all have ended. `ended` is told after each which it was and how
  /// many have; one call at a time, while other cases may be running. Once two cases have ended alike without coming to
  /// an end, by a limit of time or by calls without end, those behind them are not run: they would take as long.
  using Ended = std::function<void(std::size_t index, int ended)>;
  void run(
      const Submission& submission, const Ended& ended = [](std::size_t, int) {});

  const wire::Result& result(std::size_t i) const { return entries_[i].result; }
  /// For results from elsewhere.
  void set_result(std::size_t i, wire::Result result) { entries_[i].result = std::move(result); }
  /// Waits for it if it is being computed. Throws what computing it threw.
  const reference::Reference& reference(std::size_t i);

 private:
  struct Entry {
    cases::Case kase;
    wire::Result result;
    std::once_flag once;
    reference::Reference reference;
    bool ended = false;
  };
  void run_one(const Submission& submission, Entry& entry);
  int most_ranks() const;
  /// Two cases before case i have ended alike, without coming to an end. Waits for them if need be; `over` changes with
  /// each case that ends.
  bool is_skipped(std::size_t i, const std::atomic<int>& over);
  void skip(Entry& entry);

  world::Backend backend_;
  std::string mpi_;
  std::unique_ptr<Crew> crew_;  ///< where a run is of several processes
  std::deque<Entry> entries_;
  std::jthread references_;
  Mutex mutex_;
  bool runaway_ GUARDED_BY(mutex_) = false;  ///< a case has met the limit of processor time: the others get less of it
};

}  // namespace shardlings::grading::run
