/// \file
/// The NaN that fresh memory is filled with while grading, so that the judge can tell it from one that was computed.
#pragma once

#include <bit>
#include <cstdint>

namespace shardlings {

/// Set are only bits that bf16 has, too, so it stays what it is in 16 bits. Arithmetic of CPUs hands a NaN on with its
/// bits; a GPU may make another one of it.
inline constexpr float kPoison = std::bit_cast<float>(std::uint32_t{0x7FD5'0000});

/// Where a NaN comes from, as far as its bits tell.
enum class NanOrigin : std::uint8_t { poison, computed, unknown };

/// `nan` was an f32. "Computed" has the bits that an x86 gives to what has no value, such as infinity - infinity.
inline NanOrigin origin_of_nan(double nan) {
  constexpr std::uint32_t kWithoutSign = 0x7FFF'FFFF, kOfX86 = 0xFFC0'0000;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(nan));
  if ((bits & kWithoutSign) == std::bit_cast<std::uint32_t>(kPoison)) return NanOrigin::poison;
  return bits == kOfX86 ? NanOrigin::computed : NanOrigin::unknown;
}

}  // namespace shardlings
