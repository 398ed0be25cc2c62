/// \file
/// What each rank is doing right now, in memory that survives the process: read by the supervisor after a crash.
#pragma once

#include <atomic>
#include <cstdint>

namespace shardlings::front {

enum class RankState : std::uint32_t { not_started, running, blocked, finished, failed, dead };
/// What of its harness a rank is in: before the run that is measured, in it, or behind it.
enum class RunPart : std::uint32_t { before, measured, behind };

/// One rank's entry, with the last call of the learner's code. Written by that rank, but for `state`, which the control
/// plane writes on behalf of all; plain data at a fixed layout, so that another process can read it.
struct BlackBoxEntry {
  static constexpr int kText = 64;
  std::atomic<std::uint32_t> state{0};  ///< RankState; the first field: see submission/wire/process_words.cpp
  std::int32_t line = 0;
  std::uint64_t order = 0;   ///< calls made so far
  std::int64_t time = 0;     ///< virtual nanoseconds
  std::int64_t tensors = 0;  ///< most bytes that its tensors have had at once, of the device and of the host
  char file[kText] = {};     ///< base name
  char verb[kText] = {};     ///< what the call was
  std::uint32_t part = 0;    ///< RunPart
  bool in_harness = false;   ///< the harness has called something since
};

/// Entries of all ranks, in the world's order.
struct BlackBox {
  BlackBoxEntry* entries = nullptr;
  int ranks = 0;
};

}  // namespace shardlings::front
