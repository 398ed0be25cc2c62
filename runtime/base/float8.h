/// \file
/// Between f32 and the two types of 8 bits: e4m3, the numbers, and e8m0, the scales that blocks of them share.
///
/// From the OCP 8-bit Floating Point specification 1.0 (e4m3) and the OCP Microscaling Formats specification 1.0
/// (e8m0). Conversions saturate: what is beyond the largest number becomes it.
#pragma once

#include <bit>
#include <cstdint>

namespace shardlings {

inline constexpr float kLargestE4m3 = 448;  // 1.75 x 2^8
inline constexpr std::uint8_t kNanE4m3 = 0x7F, kNanE8m0 = 0xFF;

/// Sign, 4 bits of exponent with bias 7, 3 of mantissa: 2^(e-7) (1 + m/8), and 2^-6 m/8 where e = 0.
constexpr float float_of_e4m3(std::uint8_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x80U) << 24U, magnitude = code & 0x7FU;
  if (magnitude == kNanE4m3) return std::bit_cast<float>(sign | 0x7FC00000U);
  // Shifted into its place, the exponent has the bias 7 instead of 127: a product with 2^120 mends it, and makes
  // numbers of what is subnormal.
  return std::bit_cast<float>(sign | (magnitude << 20U)) * 0x1p120F;
}

/// Rounds to nearest, ties to even; the largest number beyond it, also for an infinity; a NaN stays one.
constexpr std::uint8_t e4m3_of_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 24U) & 0x80U, magnitude = bits & 0x7FFFFFFFU;
  const auto absolute = std::bit_cast<float>(magnitude);
  // From 2^-6 on 20 bits of the mantissa go; below, a sum with 2^14 drops what is under 2^-9.
  const std::uint32_t normal = ((magnitude + 0x7FFFFU + ((magnitude >> 20U) & 1U)) >> 20U) - (120U << 3U);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(absolute + 0x1p14F) & 0xFFU;
  const std::uint32_t rounded = absolute < 0x1p-6F ? subnormal : normal;
  const std::uint32_t finite = absolute > kLargestE4m3 ? 0x7EU : rounded;
  return static_cast<std::uint8_t>(sign | (x != x ? std::uint32_t{kNanE4m3} : finite));
}

/// 2^(code-127).
constexpr float float_of_e8m0(std::uint8_t code) {
  if (code == kNanE8m0) return std::bit_cast<float>(0x7FC00000U);
  return std::bit_cast<float>(code == 0 ? 0x00400000U : static_cast<std::uint32_t>(code) << 23U);
}

/// Rounds up to a power of two; 2^-127 for 0 and what is negative. NaN for infinities, too.
constexpr std::uint8_t e8m0_of_float(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x || (bits & 0x7FFFFFFFU) == 0x7F800000U) return kNanE8m0;
  if (x <= 0x1p-127F) return 0;
  const std::uint32_t up = (bits >> 23U) + ((bits & 0x7FFFFFU) != 0 ? 1U : 0U);
  return static_cast<std::uint8_t>(up > 254U ? 254U : up);
}

/// The scale of a block whose largest magnitude, without its sign, has these bits as an f32: the least power of two
/// that is at least the 448th part of it. NaN for an infinity or NaN. (Mishra et al. 2025, arXiv 2506.08027; the OCP
/// specification rounds the exponent down instead, and saturates.)
constexpr std::uint8_t scale_for_magnitude(std::uint32_t bits) {
  if (bits >= 0x7F800000U) return kNanE8m0;
  // 448 is 2^8 times 1.75, whose mantissa has the bits 0x600000.
  const std::uint32_t up = (bits >> 23U) + ((bits & 0x7FFFFFU) > 0x600000U ? 1U : 0U);
  return static_cast<std::uint8_t>(up < 8U ? 0U : up - 8U);
}

/// What a number is multiplied by instead of being divided by its scale: 2^(127-code), exactly.
constexpr float reciprocal_of_e8m0(std::uint8_t code) {
  return float_of_e8m0(code == kNanE8m0 ? kNanE8m0 : static_cast<std::uint8_t>(254U - code));
}

}  // namespace shardlings
