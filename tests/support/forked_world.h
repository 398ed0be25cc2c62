/// \file
/// Runs a world whose ranks are processes. Two to four of them: their sums are made by one kernel.
#pragma once

#include "world/world.h"

namespace shardlings::support {

/// As world::run(), with each rank in a forked process. `options` may not name an engine, device or fabric.
/// What the body changes in its captures stays in its process; only the report comes back.
front::RunReport run_forked_world(const world::Options& options, const std::function<void(Rank&)>& body);

}  // namespace shardlings::support
