/// \file
/// Why nobody can go on: classifies a world in which no rank is runnable, and writes the report.
///
/// It is called only at quiescence. Every program here is a Kahn network (no polling, no any-source, no host time), so
/// the set of blocked ranks and their places is unique, and so is the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "front/group/meeting.h"
#include "front/misuse/black_box.h"

namespace shardlings::front {

/// What a rank is doing, as the control plane knows it.
struct RankStatus {
  RankState state = RankState::running;
  Meeting* blocked_in = nullptr;
  std::int32_t member = 0;         ///< blocked: its own in the meeting
  Location at;                     ///< blocked: where it waits
  std::optional<Failure> failure;  ///< failed: with what
  std::string last_call;           ///< finished or failed: what it called last, and where
  Location last;
};

/// The primary error, or nothing if all ranks have finished in order. `mismatches`: complete but contradictory
/// meetings.
std::optional<Failure> judge(const std::vector<RankStatus>& ranks, const std::vector<const Meeting*>& mismatches);

/// The report on an operation that all its members have joined and that the fabric has given up, nullptr if it is about
/// none in particular. Not from quiescence: the ranks may be anywhere.
Failure hang(const Meeting* meeting, const std::string& why);

}  // namespace shardlings::front
