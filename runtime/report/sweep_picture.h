/// \file
/// Time against memory of what has been swept.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/sweep_page.h"

namespace shardlings::report {

/// The combinations of which none is both faster and smaller, by time: what the picture's numbers, from 1, stand for.
std::vector<std::size_t> on_the_frontier(const SweepPage& page);

/// The SVG: a point for each combination that came to its end. Times go from the shortest to the longest. Where some
/// combinations fit the device, memory goes a little beyond what it has, and what needs more stands at the upper edge.
std::string sweep_picture(const SweepPage& page);

}  // namespace shardlings::report
