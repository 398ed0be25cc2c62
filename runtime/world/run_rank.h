/// \file
/// One rank of a run, from its function's first call to its report.
#pragma once

#include <functional>

#include "front/group/control.h"
#include "front/rank_front.h"
#include "shardlings/rank.h"

namespace shardlings::world {

/// Calls `body`, tells the control plane how it ended, and takes the report. Never throws for what the body does.
front::RankReport run_rank(front::RankFront& front, front::Control& control, const std::function<void(Rank&)>& body);

}  // namespace shardlings::world
