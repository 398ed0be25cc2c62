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
  std::atomic<std::int32_t> signal{0};  ///< 0: none
  std::int32_t rank = -1;               ///< whose stack it came on
  Fault fault = Fault::at_address;
  std::uint64_t address = 0;           ///< that was touched, for a segmentation fault
  std::uint64_t frames[kFrames] = {};  ///< calls, innermost first, relative to where the program is loaded; 0: none
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

}  // namespace shardlings::boundary
