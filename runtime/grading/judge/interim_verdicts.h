/// \file
/// What is known while cases still run, kept in the verdict's file.
#pragma once

#include <condition_variable>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "grading/judge/grader_options.h"
#include "grading/judge/judge.h"

namespace shardlings::grading::judge {

/// Judges cases as they end, and keeps what is known so far: if this process is killed, the cases that have ended stay
/// judged. A thread of its own writes, some milliseconds after a case has ended and once for all that have ended by
/// then: where cases follow one another fast, the next one does not wait for the file of the one before. Without a
/// thread, each case is written as it ends.
class InterimVerdicts {
 public:
  InterimVerdicts(const GraderOptions& options, Judge& judge, std::size_t cases);
  /// Stops writing. What has not been kept by then is in the whole verdict, which is to be written next.
  ~InterimVerdicts();
  InterimVerdicts(const InterimVerdicts&) = delete;
  InterimVerdicts& operator=(const InterimVerdicts&) = delete;

  /// The case has ended: it is judged now, and kept soon. One call at a time.
  void judge_case(std::size_t index);

 private:
  void write_until(const std::stop_token& stop);
  /// Waits until there is something new, and a little longer; false if there will be nothing more to write.
  bool is_due(const std::stop_token& stop) EXCLUDES(mutex_);
  /// Makes the verdict of now under the lock, and writes it without.
  void write() EXCLUDES(mutex_);

  const GraderOptions& options_;
  Judge& judge_;
  Mutex mutex_;  ///< guards the judge, whose verdicts grow, too
  std::vector<bool> ended_ GUARDED_BY(mutex_);
  bool is_new_ GUARDED_BY(mutex_) = false;  ///< something has been judged that is not in the file
  std::condition_variable_any judged_;
  std::jthread writer_;
};

}  // namespace shardlings::grading::judge
