/// \file
/// Which elements belong to which rank. The only place of this rule.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings {

/// Part r of n elements over `parts` ranks: consecutive, the first n % parts of them one element longer.
constexpr Range part_of(Count n, int parts, int r) {
  const Count base = n / parts;
  const Count longer = n % parts;
  const Count begin = r * base + (r < longer ? r : longer);
  return {begin, begin + base + (r < longer ? 1 : 0)};
}

}  // namespace shardlings
