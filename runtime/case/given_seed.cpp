#include "case/given_seed.h"

#include <string>

#include "base/sha256.h"

namespace shardlings::cases {

std::uint64_t given_seed(const Case& kase) {
  constexpr std::size_t kDigits = 16;
  constexpr int kHexadecimal = 16;
  return std::stoull(sha256("given to the learner: " + std::to_string(kase.seed)).substr(0, kDigits), nullptr,
                     kHexadecimal);
}

}  // namespace shardlings::cases
