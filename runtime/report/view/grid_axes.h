/// \file
/// The axes of the grid that a run's ranks form, found in the groups that they have used.
#pragma once

#include <string>
#include <vector>

#include "front/trace/event.h"

namespace shardlings::report {

struct GridAxis {
  std::string name;
  std::vector<int> coordinates;  ///< by world rank
};

/// Outermost first. Empty unless there are several, and each rank has coordinates of its own.
std::vector<GridAxis> grid_axes(const std::vector<front::RankTrace>& traces);

}  // namespace shardlings::report
