#include "front/group/folded_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "front/group/meeting.h"

namespace shardlings::front {

namespace {

/// Of a number that grows by the same from each replica to the next.
class Growth {
 public:
  /// `last` is that of the replica so many further on.
  Growth(std::int64_t first, std::int64_t last, int further) : first_(first) {
    const std::int64_t steps = std::max(1, further);
    is_even_ = (last - first) % steps == 0;
    step_ = (last - first) / steps;
  }
  bool is_even() const { return is_even_; }
  std::int64_t at(int replica) const { return first_ + step_ * replica; }

 private:
  std::int64_t first_, step_ = 0;
  bool is_even_ = true;
};

}  // namespace

std::optional<std::string> complete_split(const Fold& fold, Meeting& split) {
  std::map<int, std::vector<int>> places;  // by place in a replica: world ranks, in the order of the replicas
  std::map<int, int> member_of;
  for (int m = 0; m < split.members(); ++m) {
    places[split.rank_of(m) % fold.ranks_per_replica()].push_back(split.rank_of(m));
    member_of[split.rank_of(m)] = m;
  }
  for (auto& [place, ranks] : places) {
    std::sort(ranks.begin(), ranks.end());
    const auto record = [&](int rank) -> CallRecord& {
      return split.records[static_cast<std::size_t>(member_of.at(rank))];
    };
    const int first = ranks.front(), last = ranks.back(), from = fold.replica_of(first);
    const Growth color(record(first).color, record(last).color, fold.replica_of(last) - from);
    const Growth key(record(first).key, record(last).key, fold.replica_of(last) - from);
    for (const int rank : ranks) {
      const auto grown_color = static_cast<std::int32_t>(color.at(fold.replica_of(rank) - from));
      const auto grown_key = static_cast<std::int32_t>(key.at(fold.replica_of(rank) - from));
      const bool is_known = fold.runs(first) && fold.runs(last) && color.is_even() && key.is_even();
      if (!is_known || (fold.runs(rank) && (record(rank).color != grown_color || record(rank).key != grown_key))) {
        return fmt::format("colors or keys of a split do not grow evenly with the replicas, as rank {} has them", rank);
      }
      record(rank).color = grown_color;
      record(rank).key = grown_key;
    }
  }
  return std::nullopt;
}

}  // namespace shardlings::front
