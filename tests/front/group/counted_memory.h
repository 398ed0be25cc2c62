/// \file
/// How much memory the program holds: every `new` and `delete` of it is counted.
#pragma once

#include <cstdint>

namespace shardlings::test {

/// Bytes that were allocated by `new` and not yet given back, by any thread.
std::int64_t bytes_held();

}  // namespace shardlings::test
