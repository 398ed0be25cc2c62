/// \file
/// What stands between a learner's code and the machine. Which of it there is depends on the rights of the user who
/// grades, and on the kernel: docs/reference/trust.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::boundary {

struct Walls {
  constexpr bool operator==(const Walls&) const = default;
  bool own_process = false;    ///< the code is in another process than counters and verdict
  bool own_user = false;       ///< ... which runs as a user of its own, who owns nothing
  bool no_privileges = false;  ///< ... and cannot get more rights (no_new_privs)
  bool system_calls = false;   ///< only those that memory, waiting and writing to standard output take (seccomp)
  bool no_files = false;       ///< the file system is out of reach (Landlock with an empty list)
  bool no_clocks = false;      ///< the processor's time stamp counter is off
  bool limits = false;         ///< on memory, processor time, processes, files
  bool namespaces = false;     ///< a network without a wire, and shared memory and names of its own
  bool cgroup = false;         ///< all jails of a run have a limit of memory together, and end together

  /// 0: what an unprivileged user can set; 1: own user and a strict list of system calls; 2: namespaces and a control
  /// group beside.
  int tier() const {
    if (!(own_process && own_user && no_privileges && system_calls && limits)) return 0;
    return namespaces && cgroup ? 2 : 1;
  }
};

/// What stands in both.
Walls common(const Walls& a, const Walls& b);
/// A word or two for each that stands: "own process", "own user".
std::vector<std::string> words_of(const Walls& walls);
/// Those that stand, by such words; others are not looked at.
Walls walls_of(const std::vector<std::string>& words);

}  // namespace shardlings::boundary
