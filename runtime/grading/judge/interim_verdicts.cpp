#include "grading/judge/interim_verdicts.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "base/beside.h"

namespace shardlings::grading::judge {
namespace {

/// Long enough for several short cases, and far shorter than the limit that ends a case without an end.
constexpr std::chrono::milliseconds kSoon{100};

}  // namespace

InterimVerdicts::InterimVerdicts(const GraderOptions& options, Judge& judge, std::size_t cases)
    : options_(options), judge_(judge), ended_(cases, false) {
  writer_ = beside([this](const std::stop_token& stop) { write_until(stop); });
}

InterimVerdicts::~InterimVerdicts() = default;  // the thread is the last member, so it ends before the others

void InterimVerdicts::judge_case(std::size_t index) {
  {
    const MutexLock lock(mutex_);
    judge_.judge_case(index);
    ended_[index] = true;
    is_new_ =
        !std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });  // else all of it comes next
    if (!is_new_) return;
  }
  judged_.notify_one();
  if (!writer_.joinable()) write();
}

void InterimVerdicts::write_until(const std::stop_token& stop) {
  while (is_due(stop)) write();
}

bool InterimVerdicts::is_due(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  if (!judged_.wait(mutex_, stop, [this]() REQUIRES(mutex_) { return is_new_; })) return false;
  judged_.wait_for(mutex_, stop, kSoon, [] { return false; });
  return !stop.stop_requested();
}

void InterimVerdicts::write() {
  const verdict::Verdict known = [&] {
    const MutexLock lock(mutex_);
    is_new_ = false;
    return judge_.interim_verdict([&](std::size_t i) REQUIRES(mutex_) { return ended_[i]; });
  }();
  try {
    write_verdict(known, options_.verdict);
  } catch (const std::runtime_error&) {
    // It is said of the whole verdict, which has to be written.
  }
}

}  // namespace shardlings::grading::judge
