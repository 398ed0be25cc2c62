/// \file
/// What a signal handler leaves behind of a crash, for another process to read.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace shardlings::boundary {

struct CrashNote {
  static constexpr std::size_t kFrames = 24;
  /// What a segmentation fault is about. The processor tells an address only if it is one that memory could have.
  enum class Fault : std::int32_t { at_address, nowhere, clock_is_off };
  /// Which function has ended the process, of those that tell it to what waits for them.
  enum class ExitBy : std::int32_t { unknown, exit, quick_exit };
  std::atomic<std::int32_t> signal{0};  ///< 0: none
  std::int32_t rank = -1;               ///< whose stack it came on
  Fault fault = Fault::at_address;
  std::uint64_t address = 0;           ///< that was touched, for a segmentation fault
  std::uint64_t frames[kFrames] = {};  ///< calls, innermost first, relative to where the program is loaded; 0: none
  std::atomic<ExitBy> exited_by{ExitBy::unknown};  ///< of a process that no signal has ended; rank and frames are its
};

/// The signals that end a program which goes wrong, and SIGXCPU, which ends one that goes on for too long.
inline constexpr std::array kCrashSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};

/// What a handler was told.
struct Crash {
  int signal = 0;
  int rank = -1;
  const siginfo_t* info = nullptr;
  const void* context = nullptr;
  std::uint64_t program = 0;  ///< where it is loaded
};

/// From a handler. The first crash counts, since others follow from it.
void take_note(CrashNote& note, const Crash& crash);
/// From what exit() or quick_exit() calls, on the thread that has called it.
void take_note_of_exit(CrashNote& note, CrashNote::ExitBy by, int rank, std::uint64_t program);
/// Of a note that another process may have written over: the crash of `signal`, or the exit, if it is about that.
void copy_crash(const CrashNote& from, int signal, int rank, CrashNote& to);
void copy_exit(const CrashNote& from, int rank, CrashNote& to);

}  // namespace shardlings::boundary
