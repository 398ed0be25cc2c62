#include "report/view/grid_axes.h"

#include <algorithm>
#include <map>
#include <set>

namespace shardlings::report {
namespace {

using front::RankTrace;

/// Where each rank stands in the group of that name; -1: it is in none, or in several that differ.
using Standing = std::map<std::string, std::vector<int>>;

Standing standing_of(const std::vector<RankTrace>& traces) {
  Standing standing;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    for (std::size_t g = 0; g < traces[rank].groups.size(); ++g) {
      const std::vector<int>& members = front::members_of(traces[rank], g);
      const auto found = std::find(members.begin(), members.end(), static_cast<int>(rank));
      if (found == members.end() || members.size() >= traces.size()) continue;
      std::vector<int>& places = standing.try_emplace(traces[rank].groups[g], traces.size(), -1).first->second;
      places[rank] = static_cast<int>(found - members.begin());
    }
  }
  return standing;
}

std::size_t coordinate_tuples(const std::vector<GridAxis>& axes, std::size_t ranks) {
  std::set<std::vector<int>> tuples;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<int> tuple;
    for (const GridAxis& axis : axes) tuple.push_back(axis.coordinates[rank]);
    tuples.insert(std::move(tuple));
  }
  return tuples.size();
}

std::size_t length_of(const std::vector<int>& coordinates) {
  return static_cast<std::size_t>(*std::max_element(coordinates.begin(), coordinates.end())) + 1;
}

/// The first rank whose coordinate is not 0: ranks that differ in the innermost axis only are neighbours.
std::size_t stride_of(const GridAxis& axis) {
  return static_cast<std::size_t>(
      std::find_if(axis.coordinates.begin(), axis.coordinates.end(), [](int c) { return c > 0; }) -
      axis.coordinates.begin());
}

}  // namespace

// Groups across several axes ("replicate x shard") are no axes: with one of them there would be more tuples than ranks.
std::vector<GridAxis> grid_axes(const std::vector<RankTrace>& traces) {
  std::vector<GridAxis> axes;
  std::size_t tuples = 1;
  for (const auto& [name, coordinates] : standing_of(traces)) {
    if (std::find(coordinates.begin(), coordinates.end(), -1) != coordinates.end()) continue;
    const std::size_t length = length_of(coordinates);
    axes.push_back({name, coordinates});
    if (length > 1 && coordinate_tuples(axes, traces.size()) == tuples * length) {
      tuples *= length;
    } else {
      axes.pop_back();
    }
  }
  if (axes.size() < 2 || tuples != traces.size()) return {};
  std::sort(axes.begin(), axes.end(), [](const GridAxis& a, const GridAxis& b) { return stride_of(a) > stride_of(b); });
  return axes;
}

}  // namespace shardlings::report
