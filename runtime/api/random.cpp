#include "base/random.h"

#include <fmt/format.h>

#include <limits>

#include "api/invalid.h"
#include "shardlings/puzzle.h"

namespace shardlings {

std::vector<Count> shuffled(Count n, std::uint64_t seed, Location at) {
  if (n < 0 || n > std::numeric_limits<std::uint32_t>::max()) {
    detail::throw_invalid(fmt::format("shuffled: {} numbers, but there must be at least 0 and less than 2^32", n), at);
  }
  return shuffled_numbers(static_cast<std::uint32_t>(n), seed);
}

}  // namespace shardlings
