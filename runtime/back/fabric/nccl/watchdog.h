/// \file
/// Finds operations that do not come to their end, on which a host that only enqueues work would never look.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "back/fabric/nccl/api.h"

namespace shardlings::back::nccl {

/// An operation under way: a part for each member.
class Operation {
 public:
  explicit Operation(Api& api) : api_(api) {}
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  struct Part {
    Device* device = nullptr;
    int gpu = -1;
    Event ready = nullptr;  ///< the member's compute lane has got to its post
    Event done = nullptr;   ///< the member's part is over
  };
  std::vector<Part> parts;
  const Exchange* exchange = nullptr;
  std::chrono::steady_clock::time_point launched;

  bool over() const;
  /// "not over on GPUs 1, 2"
  std::string open_parts() const;

 private:
  Api& api_;
};

/// The operations that were launched and, as far as is known, are not over. Used under the fabric's lock.
class Watchdog {
 public:
  explicit Watchdog(double timeout) : timeout_(timeout) {}

  void watch(std::shared_ptr<Operation> operation);
  /// Forgets what is over. Returns the oldest operation that takes longer than it may.
  std::shared_ptr<Operation> look();
  /// Forgets what is over. Whether nothing is left.
  bool is_idle();
  /// The run has failed: what is not over soon will never be.
  void hurry() { timeout_ = std::min(timeout_, kHurried); }
  double timeout() const { return timeout_; }

 private:
  static constexpr double kHurried = 5;
  double timeout_;
  std::vector<std::shared_ptr<Operation>> under_way_;
};

}  // namespace shardlings::back::nccl
