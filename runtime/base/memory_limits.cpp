#include "base/memory_limits.h"

#include <sys/resource.h>

namespace shardlings {

MemoryLimits memory_limits_here() {
  const auto in_force = [](auto resource) {
    rlimit values = {};
    const bool known = getrlimit(resource, &values) == 0;
    return known && values.rlim_cur != RLIM_INFINITY ? static_cast<std::int64_t>(values.rlim_cur) : 0;
  };
  return {in_force(RLIMIT_AS), in_force(RLIMIT_DATA)};
}

std::int64_t tighter_limit(const MemoryLimits& limits, std::int64_t bytes) {
  // Code, libraries and what is shared count to the address space, and not to private memory.
  constexpr std::int64_t kNotPrivate = std::int64_t{512} << 20;
  const std::int64_t space = limits.address_space, data = limits.data;
  if (space > 0 && (bytes == 0 || space < bytes + kNotPrivate)) return space;
  return data > 0 && (bytes == 0 || data < bytes) ? data : 0;
}

}  // namespace shardlings
