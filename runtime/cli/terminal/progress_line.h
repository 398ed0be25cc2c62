/// \file
/// What a long piece of work is at, on the error stream.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "cli/context.h"

namespace shardlings::cli::terminal {

/// On a terminal one line, rewritten in place and erased at the end, with the seconds once there are some. Elsewhere,
/// in a log, a line of its own every ten seconds at most, and none for work that is shorter. May be used by several
/// threads.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  explicit ProgressLine(const Context& context);
  /// For tests: says what time it is, and shows time passing only when asked to with tick().
  ProgressLine(const Context& context, Now now);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// From now on this is what is being done; an empty text is nothing.
  void show(const std::string& text);
  /// Shows how long it has taken.
  void tick();
  /// Erases the line.
  void end();

 private:
  void draw() REQUIRES(mutex_);

  const Context& context_;
  Now now_;
  Clock::time_point begin_;
  Mutex mutex_;
  std::condition_variable_any stopping_;
  Clock::time_point last_logged_ GUARDED_BY(mutex_);
  std::string text_ GUARDED_BY(mutex_);
  bool drawn_ GUARDED_BY(mutex_) = false;
  std::jthread ticker_;
};

}  // namespace shardlings::cli::terminal
