/// \file
/// The jails of all ranks of a run: started, watched, and in the end killed.
#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "boundary/broker/jailed_rank.h"

namespace shardlings::boundary {

struct JailOptions {
  std::string program;  ///< the learner's code, linked with jail/
  int ranks = 1;
  std::int64_t memory_bytes = 0;  ///< address space of each
};

class Jails {
 public:
  /// Starts them, while the process has no other thread. When one of them ends during a call, its end becomes that of
  /// this process: the same signal, after what the jail has noted of it stands in `note`, or the same exit status.
  /// Throws std::system_error if the machine does not give what it takes.
  Jails(const JailOptions& options, CrashNote& note);
  ~Jails();
  Jails(const Jails&) = delete;
  Jails& operator=(const Jails&) = delete;

  JailedRank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  /// Waits until all are ready. What all of them have.
  Walls await_ready();

 private:
  void start(const JailOptions& options, int mailboxes);
  void watch();
  [[noreturn]] void end_alike(int rank, WaitStatus status);

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  CrashNote& note_;
  std::deque<JailedRank> ranks_;
  pid_t keeper_ = -1;   ///< the process whose children the jails are
  Descriptor endings_;  ///< from which its Endings are read
  bool own_user_ = false;
  std::thread watcher_;
};

}  // namespace shardlings::boundary
