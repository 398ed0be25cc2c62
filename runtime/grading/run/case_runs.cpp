#include "grading/run/case_runs.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "base/beside.h"
#include "grading/run/supervisor.h"

namespace shardlings::grading::run {
namespace {

/// In which way a run never came to its end; empty if it did, or if something else stopped it.
std::string endlessness(const wire::Result& result) {
  const bool by_time = result.ending == wire::Ending::cpu_limit || result.ending == wire::Ending::wall_limit;
  const auto& failure = result.report.failure;
  const bool by_calls =
      result.ending == wire::Ending::failed && failure.has_value() && failure->kind == front::FailureKind::endless_loop;
  if (by_calls) return name_of(failure->kind);
  return by_time ? name_of(result.ending) : "";
}

}  // namespace

CaseRuns::CaseRuns(std::vector<cases::Case> cases, world::Backend backend, std::string mpi)
    : backend_(backend), mpi_(std::move(mpi)) {
  for (cases::Case& kase : cases) entries_.emplace_back().kase = std::move(kase);
}

CaseRuns::~CaseRuns() = default;

void CaseRuns::start_references(const std::function<void(const cases::Case&)>& instead) {
  references_ = beside([this, instead](const std::stop_token& stop) {
    for (std::size_t i = 0; i < entries_.size() && !stop.stop_requested(); ++i) {
      if (!instead && !entries_[i].kase.has_model()) continue;
      try {
        if (instead) {
          instead(entries_[i].kase);
        } else {
          reference(i);
        }
      } catch (const std::exception&) {
        continue;  // thrown again where it is asked for
      }
    }
  });
}

const reference::Reference& CaseRuns::reference(std::size_t i) {
  Entry& entry = entries_[i];
  std::call_once(entry.once, [&] { entry.reference = reference::train_reference(entry.kase); });
  return entry.reference;
}

void CaseRuns::run(const Submission& submission, const Ended& ended) {
  // With a GPU for each rank, two runs would wait for one another's kernels; processes run one case after another.
  const bool is_alone = capabilities_of(backend_).gpu_per_rank || capabilities_of(backend_).processes;
  const unsigned side_by_side = is_alone ? 1 : 2;
  if (capabilities_of(backend_).processes) crew_ = std::make_unique<Crew>(submission, mpi_, most_ranks());
  std::atomic<std::size_t> next = 0;
  Mutex telling;  // not mutex_: what is told may take its time, and a case that begins must not wait for that
  int done = 0;
  std::atomic<int> over = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < entries_.size(); i = next++) {
      if (is_skipped(i, over)) {
        skip(entries_[i]);
      } else {
        run_one(submission, entries_[i]);
      }
      ++over;
      over.notify_all();
      const MutexLock lock(telling);
      ended(i, ++done);
    }
  };
  std::jthread second;
  if (std::min(side_by_side, std::thread::hardware_concurrency()) > 1 && entries_.size() > 1) second = beside(work);
  work();
  crew_.reset();
}

int CaseRuns::most_ranks() const {
  int most = 1;
  for (const Entry& entry : entries_) most = std::max(most, entry.kase.ranks);
  return most;
}

void CaseRuns::run_one(const Submission& submission, Entry& entry) {
  constexpr int kShortSeconds = 2;
  ProcessLimits limits = default_limits(entry.kase.ranks, backend_);
  {
    const MutexLock lock(mutex_);
    if (runaway_) limits.cpu_seconds = std::min(limits.cpu_seconds, kShortSeconds);
  }
  wire::Result result = crew_ ? crew_->run(entry.kase, limits) : run_case(submission, entry.kase, limits, backend_);
  const MutexLock lock(mutex_);
  if (result.ending == wire::Ending::cpu_limit) runaway_ = true;
  entry.result = std::move(result);
  entry.ended = true;
}

void CaseRuns::skip(Entry& entry) {
  const MutexLock lock(mutex_);
  entry.result.ending = wire::Ending::not_run;
  entry.result.explanation =
      "this case was not run: two cases before it did not come to an end, and it would take as long as they did.";
  entry.ended = true;
}

// Two cases run side by side. Once one is known to have had no end, the next one waits for all that are before it: what
// is run must not depend on who is faster. Before that, at most one of them can turn out so.
bool CaseRuns::is_skipped(std::size_t i, const std::atomic<int>& over) {
  for (;;) {
    const int known = over.load();
    {
      const MutexLock lock(mutex_);
      std::set<std::string> ways;
      bool all_ended = true;
      for (std::size_t before = 0; before < i; ++before) {
        all_ended = all_ended && entries_[before].ended;
        const std::string way = entries_[before].ended ? endlessness(entries_[before].result) : "";
        if (!way.empty() && !ways.insert(way).second) return true;
      }
      if (ways.empty() || all_ended) return false;
    }
    over.wait(known);
  }
}

}  // namespace shardlings::grading::run
