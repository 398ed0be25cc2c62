/// \file
/// Handlers that note where a program crashed, loops without end or called exit(), before it ends by that.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>

#include "submission/wire/memory_file.h"

namespace shardlings::submission {

/// While it lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGXCPU are noted and then take their default course;
/// exit() and quick_exit() are noted, too.
/// SIGXCPU (the limit of processor time) comes to any thread; it is passed on to a rank that is running. One per
/// process.
class CrashNotes {
 public:
  /// `program`: where the submission's code is loaded.
  CrashNotes(boundary::CrashNote& note, front::BlackBox box, const void* program);
  ~CrashNotes();
  CrashNotes(const CrashNotes&) = delete;
  CrashNotes& operator=(const CrashNotes&) = delete;

  /// Gives the calling thread a stack of its own for the handlers, so that a stack overflow is noted, too.
  void watch_this_thread(int rank);
  void leave_this_thread(int rank);
  /// The same where this thread runs all ranks by turns: a crash is that of the one that is running.
  void watch_all_on_this_thread();

 private:
  std::unique_ptr<std::atomic<pid_t>[]> threads_;  ///< by rank; 0: none
};

/// Called after each note, from the handler or on the thread that has called exit(); system calls only. nullptr: nobody
/// is told. For processes whose notes somebody else reads elsewhere.
void tell_of_crashes(void (*after_note)());

}  // namespace shardlings::submission
