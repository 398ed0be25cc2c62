/// \file
/// Between f32 and bf16, its upper half: the rounding rule of the whole project.
#pragma once

#include <bit>
#include <cstdint>

namespace shardlings {

constexpr float float_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// Rounds to nearest, ties to even; a NaN stays one. Without a branch, so that compilers make vectors of it.
constexpr std::uint16_t bf16_of_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t quiet = (bits >> 16U) | 0x40U;
  return static_cast<std::uint16_t>(x != x ? quiet : rounded);
}

}  // namespace shardlings
