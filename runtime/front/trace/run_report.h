/// \file
/// What a run leaves behind, to be judged. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/matrix_part.h"
#include "front/trace/counters.h"
#include "front/trace/event.h"
#include "front/trace/failure.h"
#include "front/trace/shown.h"

namespace shardlings::front {

/// Something a rank published for the judge (see harness.h).
struct Published {
  std::string name;
  MatrixPart place;           ///< what of the whole of that name this rank holds
  std::vector<float> values;  ///< of that part, row-major
  bool missing = false;       ///< it should hold a part, and has no tensor of it: neither place nor values
};

struct RankReport {
  Counters counters;
  RankTrace trace;
  std::vector<Published> published;
  Shows shows;
};

struct RunReport {
  std::vector<RankReport> ranks;
  std::optional<Failure> failure;
};

}  // namespace shardlings::front
