#include "report/rank_choice.h"

#include <algorithm>
#include <set>

namespace shardlings::report {
namespace {

std::size_t range_of(const std::vector<RankRange>& ranges, int rank) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first <= rank && rank <= ranges[i].last) return i;
  }
  return 0;
}

std::string reasons(bool peak, bool slowest) {
  if (peak && slowest) return "highest peak, ends last";
  if (peak) return "highest peak";
  return slowest ? "ends last" : "";
}

}  // namespace

std::vector<ShownRanks> shown_ranks(const std::vector<RankRange>& ranges, int most, int peak_rank, int slowest_rank) {
  const bool all = static_cast<int>(ranges.size()) <= most;
  std::set<std::size_t> chosen;
  if (all) {
    for (std::size_t i = 0; i < ranges.size(); ++i) chosen.insert(i);
  } else {
    chosen = {0, ranges.size() - 1, range_of(ranges, peak_rank), range_of(ranges, slowest_rank)};
  }
  std::vector<ShownRanks> shown;
  int next = 0;  // the first rank that has neither been shown nor counted
  for (const std::size_t i : chosen) {
    ShownRanks entry{ranges[i], ranges[i].first - next, ""};
    if (!all) entry.why = reasons(i == range_of(ranges, peak_rank), i == range_of(ranges, slowest_rank));
    shown.push_back(entry);
    next = ranges[i].last + 1;
  }
  return shown;
}

}  // namespace shardlings::report
