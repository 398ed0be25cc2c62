/// \file
/// Which ranks of a timeline are shown where not all fit.
#pragma once

#include <string>
#include <vector>

#include "report/timeline.h"

namespace shardlings::report {

/// Ranks, or neighbours that share their rows, in a picture; of more, only the most interesting ones.
inline constexpr int kMostRankRows = 12;

/// Ranks that share their rows, and how many ranks are left out before them.
struct ShownRanks {
  RankRange ranks;
  int left_out_before = 0;
  std::string why;  ///< what makes them interesting, if ranks are left out: "highest peak"; may be empty
};

/// At most `most` of `ranges`, at least the first, the last, those with the highest peak and those that end last.
std::vector<ShownRanks> shown_ranks(const std::vector<RankRange>& ranges, int most, int peak_rank, int slowest_rank);

}  // namespace shardlings::report
