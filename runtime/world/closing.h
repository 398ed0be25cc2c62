/// \file
/// What is to be done when the ranks of a run have ended, wherever they were.
#pragma once

#include <memory>
#include <vector>

#include "front/rank_front.h"
#include "front/trace/run_report.h"

namespace shardlings::world {

/// Measured times begin with the first thing that was measured on any rank.
void align_measured_times(front::RunReport& report);

/// A failed run may leave operations behind that still use everybody's memory. A device that fails only now has worked
/// on something that nobody has read: that becomes the report's failure if it has none.
void await_devices(const std::vector<std::unique_ptr<front::RankFront>>& fronts, front::RunReport& report);

}  // namespace shardlings::world
