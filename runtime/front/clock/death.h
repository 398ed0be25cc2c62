/// \file
/// When a rank dies, as a case says it. What comes of it on that rank: rank/doom.h; on the others: group/deaths.h.
#pragma once

#include <optional>

#include "base/units.h"

namespace shardlings::front {

/// One of the three says when, in what is measured. A rank dies between two of its calls: what it has called happens,
/// and the call that is under way at that time does not return.
struct Death {
  int rank = 0;
  std::optional<Nanos> at{};  ///< at this time
  /// Instead of its call of this number, from 1; 0: not so. Calls of the harness have numbers, too. Those that are
  /// `uncounted` in api/verbs.def have none.
  int call = 0;
  int write = 0;  ///< in the middle of its write to the store of this number, from 1; 0: not so
  bool operator==(const Death&) const = default;
};

}  // namespace shardlings::front
