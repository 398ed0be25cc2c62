/// \file
/// Random numbers by counting: number i of a stream is a pure function of (seed, stream, i).
///
/// So any rank can make any part of a tensor, and all splits of it see the same numbers. Philox4x32-10 of Salmon,
/// Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), table 2 and section 4.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace shardlings {

/// Four random words: Philox4x32-10 of a 128-bit counter and a 64-bit key.
// NOLINTNEXTLINE(misc-unused-parameters): both are used below
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

/// Words 4 block to 4 block + 3 of a stream.
constexpr std::array<std::uint32_t, 4> random_words(std::uint64_t seed, std::uint64_t block, std::uint64_t stream = 0) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
  return philox({low(block), high(block), low(stream), high(stream)}, {low(seed), high(seed)});
}

/// Word `index` of a stream.
constexpr std::uint32_t random_word_at(std::uint64_t seed, std::uint64_t index, std::uint64_t stream = 0) {
  return random_words(seed, index / 4, stream)[index % 4];
}

/// A word as a number strictly between 0 and 1, so that its logarithm is finite.
constexpr double unit_interval(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// So many of the 2^32 words stand for numbers below `rate`, if word x stands for x / 2^32: those that are smaller than
/// the result.
constexpr std::uint64_t words_below(float rate) {
  const double words = static_cast<double>(rate) * 0x1p32;  // exactly: a float has 24 bits
  const auto whole = static_cast<std::uint64_t>(words);
  return static_cast<double>(whole) < words ? whole + 1 : whole;
}

/// Number `index` of a stream, uniform in 0 … bound-1 (multiply and shift: Lemire 2019, without rejection).
constexpr std::uint32_t below_at(std::uint32_t bound, std::uint64_t seed, std::uint64_t index,
                                 std::uint64_t stream = 0) {
  return static_cast<std::uint32_t>((std::uint64_t{random_word_at(seed, index, stream)} * bound) >> 32U);
}

/// The numbers 0 to n-1, n < 2^32, in an order that depends on n and the seed alone (Durstenfeld 1964, algorithm 235).
/// It draws from a stream of its own, of the seed.
inline std::vector<std::int64_t> shuffled_numbers(std::uint32_t n, std::uint64_t seed) {
  constexpr std::uint64_t kStream = ~std::uint64_t{0};
  std::vector<std::int64_t> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = i;
  for (std::uint32_t left = n; left > 1; --left) std::swap(order[left - 1], order[below_at(left, seed, left, kStream)]);
  return order;
}

/// Standard normal numbers 4 block to 4 block + 3 of a stream (Box and Muller 1958), rounded from double.
inline std::array<float, 4> normals(std::uint64_t seed, std::uint64_t block, std::uint64_t stream = 0) {
  const std::array<std::uint32_t, 4> words = random_words(seed, block, stream);
  std::array<float, 4> out{};
  for (std::size_t pair = 0; pair < 4; pair += 2) {
    const double radius = std::sqrt(-2 * std::log(unit_interval(words[pair])));
    const double angle = 2 * std::numbers::pi * unit_interval(words[pair + 1]);
    out[pair] = static_cast<float>(radius * std::cos(angle));
    out[pair + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return out;
}

}  // namespace shardlings
