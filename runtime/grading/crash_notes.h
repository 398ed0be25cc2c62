/// \file
/// Signal handlers that note a crash before the process dies of it.
#pragma once

#include "grading/memory_file.h"

namespace shardlings::grading {

/// While it lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are noted and then take their default course. One per
/// process.
class CrashNotes {
 public:
  /// `program`: where the submission's code is loaded.
  CrashNotes(CrashNote& note, int ranks, const void* program);
  ~CrashNotes();
  CrashNotes(const CrashNotes&) = delete;
  CrashNotes& operator=(const CrashNotes&) = delete;

  /// Gives the calling thread a stack of its own for the handlers, so that a stack overflow is noted, too.
  void watch_this_thread(int rank);
  void leave_this_thread();
};

}  // namespace shardlings::grading
