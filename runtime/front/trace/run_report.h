/// \file
/// What a run leaves behind for whoever judges it. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "front/trace/counters.h"
#include "front/trace/event.h"
#include "front/trace/failure.h"
#include "shardlings/shard.h"

namespace shardlings::front {

/// Something a rank published for the judge (see harness.h).
struct Published {
  std::string name;
  Count rows = 0, cols = 0;    ///< extents of the whole
  Range row_range, col_range;  ///< the rectangle that this rank holds
  std::vector<float> values;   ///< row-major, of the rectangle
};

struct RankReport {
  Counters counters;
  RankTrace trace;
  std::vector<Published> published;
};

struct RunReport {
  std::vector<RankReport> ranks;
  std::optional<Failure> failure;
};

}  // namespace shardlings::front
