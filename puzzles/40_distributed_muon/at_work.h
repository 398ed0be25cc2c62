// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a curve of memory tells of the tensors that are neither weights, gradients nor optimizer states: for the grader.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings {

/// What is alive beside weights, gradients and optimizer states.
inline Bytes at_work(const front::MemoryPoint& point) {
  Bytes sum;
  for (const Kind kind : {Kind::activation, Kind::buffer, Kind::other})
    sum += point.live[static_cast<std::size_t>(kind)];
  return sum;
}

/// The most that is alive of one kind.
inline Bytes most_of(const std::vector<front::MemoryPoint>& curve, Kind kind) {
  Bytes most;
  for (const front::MemoryPoint& point : curve) most = std::max(most, point.live[static_cast<std::size_t>(kind)]);
  return most;
}

/// The least that is at work from one time to another: nothing is made and dropped again unseen, so this much stays.
inline Bytes staying(const std::vector<front::MemoryPoint>& curve, Nanos from, Nanos to) {
  Bytes before;
  std::optional<Bytes> least;
  for (const front::MemoryPoint& point : curve) {
    if (point.time < from) before = at_work(point);
    if (point.time >= from && point.time <= to) least = std::min(least.value_or(at_work(point)), at_work(point));
  }
  return least.value_or(before);
}

}  // namespace shardlings
