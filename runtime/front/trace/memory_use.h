/// \file
/// How full a rank's memories are and were. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/units.h"

namespace shardlings::front {

/// The memories of a rank.
enum class Memory : std::uint8_t { device, host };
inline constexpr int kMemories = 2;
/// Bytes by what they are for: see Kind.
using KindBytes = std::array<Bytes, kNumKinds>;

/// How full one of a rank's memories is and was.
struct MemoryUse {
  Bytes live;
  KindBytes live_by_kind{};
  Bytes peak;
  KindBytes peak_by_kind{};  ///< what was alive at the peak
  std::string peak_file;
  int peak_line = 0;

  bool operator==(const MemoryUse&) const = default;
};

/// One point of a rank's memory curve: after every change of live memory, in program order.
struct MemoryPoint {
  Nanos time;
  KindBytes live{};
};

}  // namespace shardlings::front
