/// \file
/// Waiting for what comes to pass in other processes and threads.
#pragma once

#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <thread>

namespace shardlings::support {

/// Longer than anything that a test waits for takes on a busy machine: for what would hang if it were wrong.
inline constexpr std::chrono::seconds kLimit(120);

/// Whether that becomes so in time.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Waits for the end of a child. Returns its exit status; 128 + the signal that has ended it, as shells do.
inline int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace shardlings::support
