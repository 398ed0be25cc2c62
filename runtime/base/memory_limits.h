/// \file
/// The limits of memory that a process has been started with: ulimit -v and ulimit -d.
#pragma once

#include <cstdint>

namespace shardlings {

/// In bytes; 0: there is none.
struct MemoryLimits {
  std::int64_t address_space = 0;
  std::int64_t data = 0;  ///< private memory that it may write
};

/// Those of this process.
MemoryLimits memory_limits_here();

/// The one of them that leaves a process less than `bytes` of private memory, of which 0 says that it may have any
/// amount; 0 if none does.
std::int64_t tighter_limit(const MemoryLimits& limits, std::int64_t bytes);

}  // namespace shardlings
