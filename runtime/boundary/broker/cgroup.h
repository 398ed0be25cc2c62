/// \file
/// A control group of Linux's second kind for a few processes: what they use together has a limit, and they end
/// together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace shardlings::boundary {

struct CgroupLimits {
  std::int64_t memory_bytes = 0;  ///< of all processes together; 0: no limit
  int processes = 0;
};

/// Empty and removed at the end: whatever runs in it then is killed.
class Cgroup {
 public:
  /// `mount`: where the system has its control groups; empty: asked of the system. Without rights to make one, or
  /// without the controllers that the limits take, there is none.
  explicit Cgroup(const CgroupLimits& limits, const std::string& mount = "");
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  /// It is there, with its limits.
  bool valid() const { return !folder_.empty(); }
  /// The calling process, and all that it starts from now on, belong to it. System calls only; false if it cannot be.
  bool enter() const;

 private:
  std::string folder_, processes_;
};

}  // namespace shardlings::boundary
