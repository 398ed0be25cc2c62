/// \file
/// What `train` hears from the program that trains.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/token.h"
#include "cli/terminal/progress_line.h"
#include "cli/terminal/train_report.h"

namespace shardlings::cli::terminal {

/// Its output so far, as a report that grows. Its own lines have a mark; the others the learner's code has printed.
class TrainConversation {
 public:
  using Clock = std::chrono::steady_clock;

  /// `quiet`: no line shows the progress.
  TrainConversation(const Context& context, const train::Settings& settings, bool quiet)
      : report_(context, settings), line_(context), quiet_(quiet) {}

  const std::string& mark() const { return mark_; }
  /// Output of the program, cut anywhere.
  void listen(std::string_view output);
  /// Bytes that the learner's code has printed since the last step ended.
  std::int64_t printed() const { return printed_; }
  /// The report, once the program has ended.
  TrainReport& finish();
  /// Whether no step has ended for far longer than one takes, counted from a moment. May be asked by another thread.
  bool is_silent(Clock::time_point since) const;

 private:
  void note_step();
  void take(std::string_view line);
  void add_printed(std::string_view text);

  TrainReport report_;
  ProgressLine line_;
  std::string mark_ = random_token();
  std::string pending_;
  std::int64_t printed_ = 0;
  bool quiet_;
  mutable Mutex mutex_;
  Clock::time_point last_step_ GUARDED_BY(mutex_) = Clock::now();
  Clock::duration longest_step_ GUARDED_BY(mutex_){};
};

}  // namespace shardlings::cli::terminal
