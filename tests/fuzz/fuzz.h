/// \file
/// How much is tried: a little on every day, and as much as somebody asks for.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace shardlings::fuzz {

inline std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoll(text, nullptr, 10) : otherwise;
}

/// SHARDLINGS_FUZZ_COUNT=10000000 makes each test try so many.
inline std::int64_t tries(std::int64_t every_day) {
  return number_from("SHARDLINGS_FUZZ_COUNT", every_day);
}

/// SHARDLINGS_FUZZ_SEED=7 makes others than those of every day, which begin with `every_day`.
inline std::uint64_t seed(std::uint64_t every_day) {
  return static_cast<std::uint64_t>(number_from("SHARDLINGS_FUZZ_SEED", static_cast<std::int64_t>(every_day)));
}

}  // namespace shardlings::fuzz
