/// \file
/// exp as a few multiplications, so that loops over it vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace shardlings::back::cpu {

/// exp(x), relative error below 2e-7; 0 where the result is below 2^-125, infinity above f32's range, NaN for NaN.
///
/// x = n ln 2 + r with |r| <= ln(2)/2; exp(r) is Taylor's polynomial of degree 7 (remainder 6e-9); times 2^n by
/// adding to the exponent. ln 2 is split in two so that n ln2_high is exact.
inline float fast_exp(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  constexpr float kLowest = -86.6F;
  constexpr float kHighest = 88.73F;

  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  // 2^(n-1), doubled by p + p: n may be 128, which has no exponent of its own.
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound) + 126U;
  const float result = (p + p) * std::bit_cast<float>(exponent << 23U);
  const float above = x > kHighest ? __builtin_inff() : result;
  return x < kLowest ? 0.0F : above;
}

}  // namespace shardlings::back::cpu
