/// \file
/// How much of a causal attention there is to compute: pairs of a query and a key that it sees.
#pragma once

#include <algorithm>

#include "shardlings/tensor.h"

namespace shardlings::model {

/// Queries and keys stand at consecutive positions of one sequence, from 0 to 2^30. A query sees the keys at its own
/// position and before it, but none before `document`.
constexpr Count seen_pairs(Range queries, Range keys, Count document = 0) {
  const Count begin = std::max(keys.begin, document), all = std::max<Count>(keys.end - begin, 0);
  // The query at begin + x - 1 sees x keys, but none if x is below 0, and not more than all.
  const auto up_to = [all](Count x) {
    const Count rising = std::clamp<Count>(x, 0, all);
    return rising * (rising + 1) / 2 + std::max<Count>(x - all, 0) * all;
  };
  return up_to(queries.end - begin) - up_to(queries.begin - begin);
}

}  // namespace shardlings::model
