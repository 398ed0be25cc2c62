/// \file
/// The jails of all ranks of a run: started, watched, and in the end killed.
#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "base/machine_fault.h"
#include "boundary/broker/jailed_rank.h"
#include "boundary/broker/keeper.h"

namespace shardlings::boundary {

struct JailOptions {
  std::string program;  ///< the learner's code, linked with jail/
  std::string source{};  ///< base name of the learner's file; empty: that is not known
  int ranks = 1;
  int least_tier = 0;              ///< of the walls around them; where the system gives fewer, there are none
  std::int64_t memory_bytes = 0;   ///< address space of each
  std::int64_t memory_of_all = 0;  ///< what they use together, where the system can limit that
};

/// The system puts up fewer walls than were asked for.
class TooFewWalls : public MachineFault {
 public:
  explicit TooFewWalls(const Walls& walls);
};

/// Memory that a jail and its broker share. It keeps its size: nobody can cut off what the other has mapped.
class SharedMemory {
 public:
  /// Throws MachineFault if there is none.
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  int file() const { return file_.get(); }
  void* begin() const { return begin_; }

 private:
  Descriptor file_;
  void* begin_ = nullptr;
};

class Jails {
 public:
  /// Starts them, while the process has no other thread, and waits until their walls stand. When one of them ends
  /// during a call, its end becomes that of this process: the same signal, after what the jail has noted of it stands
  /// in `note`, or the same exit status. Of one that the system kills, `killed_peak` gets how many bytes it had in use.
  /// Throws MachineFault if the machine does not give what it takes.
  Jails(const JailOptions& options, CrashNote& note, std::int64_t& killed_peak);
  ~Jails();
  Jails(const Jails&) = delete;
  Jails& operator=(const Jails&) = delete;

  JailedRank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  /// What stands around all of them.
  const Walls& walls() const { return walls_; }

 private:
  /// Killed, and with it all jails, at the end.
  struct KeeperProcess {
    pid_t process = -1;
    ~KeeperProcess();
  };
  void start(const JailOptions& options);
  void await_walls();
  bool read_note(KeeperNote& note);
  void heed(const KeeperNote& note);
  void watch();
  [[noreturn]] void end_alike(int rank, WaitStatus status);

  CrashNote& note_;
  std::int64_t& killed_peak_;
  Cgroup cgroup_;  ///< gone after the keeper
  std::deque<SharedMemory> mailboxes_;
  std::deque<JailedRank> ranks_;
  Descriptor notes_;  ///< from which the keeper's are read
  Walls walls_;
  KeeperProcess keeper_;
  std::thread watcher_;
};

}  // namespace shardlings::boundary
