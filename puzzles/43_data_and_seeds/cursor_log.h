// How a cursor is published as f32, of which none holds a large one: harness and grader have the same.
#pragma once

#include <vector>

#include "base/units.h"

namespace shardlings {

constexpr Count kCursorPart = Count{1} << 22U;  // an f32 holds it exactly
constexpr Count kCursorParts = 3;               // of 64 bits

/// The lowest part first; the last one has the sign.
inline void log_cursor(std::vector<float>& log, Count cursor) {
  for (Count i = 1; i < kCursorParts; ++i) {
    const Count part = (cursor % kCursorPart + kCursorPart) % kCursorPart;
    log.push_back(static_cast<float>(part));
    cursor = cursor / kCursorPart - (part > 0 && cursor < 0 ? 1 : 0);
  }
  log.push_back(static_cast<float>(cursor));
}

inline Count logged_cursor(const float* log) {
  auto high = static_cast<std::uint64_t>(static_cast<Count>(log[kCursorParts - 1]));
  for (Count i = kCursorParts - 1; i-- > 0;) {
    high = high * static_cast<std::uint64_t>(kCursorPart) + static_cast<std::uint64_t>(log[i]);
  }
  return static_cast<Count>(high);
}

}  // namespace shardlings
