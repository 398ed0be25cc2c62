#include "grading/run/case_runs.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "grading/run/supervisor.h"

namespace shardlings::grading::run {

CaseRuns::CaseRuns(std::vector<cases::Case> cases, world::Backend backend) : backend_(backend) {
  for (cases::Case& kase : cases) entries_.emplace_back().kase = std::move(kase);
}

CaseRuns::~CaseRuns() = default;

void CaseRuns::start_references() {
  references_ = std::jthread([this](const std::stop_token& stop) {
    for (std::size_t i = 0; i < entries_.size() && !stop.stop_requested(); ++i) {
      if (!entries_[i].kase.has_model()) continue;
      try {
        reference(i);
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

void CaseRuns::run(const std::string& submission, const std::function<void(int ended)>& ended) {
  // With a GPU for each rank, two runs would wait for one another's kernels.
  const unsigned side_by_side = capabilities_of(backend_).gpu_per_rank ? 1 : 2;
  std::atomic<std::size_t> next = 0;
  int done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < entries_.size(); i = next++) {
      run_one(submission, entries_[i]);
      const MutexLock lock(mutex_);
      ended(++done);
    }
  };
  std::jthread second;
  if (std::min(side_by_side, std::thread::hardware_concurrency()) > 1 && entries_.size() > 1)
    second = std::jthread(work);
  work();
}

void CaseRuns::run_one(const std::string& submission, Entry& entry) {
  constexpr int kShortSeconds = 2;
  ProcessLimits limits = default_limits(entry.kase.ranks, backend_);
  {
    const MutexLock lock(mutex_);
    if (runaway_) limits.cpu_seconds = std::min(limits.cpu_seconds, kShortSeconds);
  }
  entry.result = run_case(submission, entry.kase, limits, backend_);
  if (entry.result.ending == wire::Ending::cpu_limit) {
    const MutexLock lock(mutex_);
    runaway_ = true;
  }
}

}  // namespace shardlings::grading::run
