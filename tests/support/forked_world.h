/// \file
/// Runs a world whose ranks are spread over forked processes, which reach one another over sockets.
#pragma once

#include "world/world.h"

namespace shardlings::support {

/// As world::run(), over so many forked processes. `options` may name a device, but no engine and no fabric.
/// What the body changes in its captures stays in its process; what comes back is the report, and what the body has
/// expected in vain, which fails the test. If process 0 dies, that is the report's failure.
front::RunReport run_forked_world(const world::Options& options, int processes, const std::function<void(Rank&)>& body);

}  // namespace shardlings::support
