/// \file
/// One rank of a run, from its function's first call to its report.
#pragma once

#include <functional>

#include "front/group/control.h"
#include "front/rank_front.h"

namespace shardlings::front {

/// Calls `body`, tells the control plane how it ended, and takes the report. Never throws for what the body does.
RankReport run_rank(RankFront& front, Control& control, const std::function<void(Rank&)>& body);

}  // namespace shardlings::front
