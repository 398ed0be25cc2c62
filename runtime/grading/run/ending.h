/// \file
/// Why a submission process ended as it did, in a paragraph for the learner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/run/process.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/result.h"

namespace shardlings::grading::run {

/// What is known about a process that brought no result.
struct Evidence {
  const ProcessEnd& end;
  const ProcessLimits& limits;
  bool reached_main = false;
  bool host_memory_exhausted = false;
  std::int64_t tighter_limit = 0;  ///< of memory, where the process ran: less than a case may use; 0: there is none
  std::string fault{};             ///< what the runtime could not do, in its own words; empty: nothing
  bool damaged = false;            ///< there is an end mark, but what came with it makes no sense
  int crash_signal =
      0;  ///< noted by the signal handler, with the rank (or -1) and the address; 0: it did not get to it
  int crash_rank = -1;
  boundary::CrashNote::Fault crash_fault{};
  std::optional<std::uint64_t> crash_address{};
  wire::Place crash_place{};                ///< from the program's line table
  boundary::CrashNote::ExitBy exited_by{};  ///< the function that ended it; rank and place are those of its caller
  bool jail_exhausted = false;              ///< it was a jail that got no memory, and not its broker
  std::int64_t jail_bytes = 0;              ///< that each jail may use; 0: there are none, or they have no limit
  std::int64_t jail_peak = 0;               ///< resident bytes of a jail that the system killed; 0: it killed none
};

/// Sets `ending`, `explanation` and `stopped_at`; uses result.last_words.
void describe_ending(const Evidence& evidence, wire::Result& result);

/// "rank 2 was in all_reduce at puzzle.cpp:31", a line for each rank that made a call.
std::string last_words_text(const wire::Result& result);
/// The line of one rank.
std::string last_words_text(const std::vector<wire::LastWords>& words, std::size_t rank);

}  // namespace shardlings::grading::run
