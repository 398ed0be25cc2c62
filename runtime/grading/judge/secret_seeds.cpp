#include "grading/judge/secret_seeds.h"

#include <charconv>

#include "base/sha256.h"

namespace shardlings::grading::judge {

std::uint64_t secret_seed(const std::string& secret, const std::string& puzzle, const std::string& case_name) {
  constexpr std::size_t kDigits = 16;
  // Its hash has a fixed length, and names of puzzles no line break: no two different triples make the same text.
  const std::string digest = sha256(sha256(secret) + puzzle + '\n' + case_name);
  std::uint64_t seed = 0;
  std::from_chars(digest.data(), digest.data() + kDigits, seed, 16);
  return seed;
}

}  // namespace shardlings::grading::judge
