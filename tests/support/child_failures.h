/// \file
/// What GoogleTest finds wrong in processes that a test has forked. It stays in the memory of those processes, so the
/// test would pass: here they leave it behind, and the test repeats it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace shardlings::support {

/// An expectation that did not hold.
struct ChildFailure {
  std::string file;
  int line = 0;
  std::string message;
};

/// Made before processes are forked, which share it.
class ChildFailures {
 public:
  ChildFailures();

  /// In a forked process, before it expects anything: from here on each failure, of whichever thread, is left behind at
  /// once, so that it outlives the process however that ends. Nothing is printed there.
  void leave_here() const;

  /// In the order in which they were found. Those processes have ended.
  std::vector<ChildFailure> all() const;
  /// Fails the test by each of them.
  void repeat() const;

 private:
  Descriptor file_;
};

/// Runs `body` in a process of its own, and says what has failed there: of tests about failures themselves.
std::vector<ChildFailure> failures_in_child(const std::function<void()>& body);

}  // namespace shardlings::support
