/// \file
/// Runs a world whose ranks are spread over forked processes, which reach one another over sockets.
#pragma once

#include "world/world.h"

namespace shardlings::support {

/// As world::run(), over so many forked processes. `options` may name a device, but no engine and no fabric.
/// What the body changes in its captures stays in its process; only the report comes back, unless process 0 dies: then
/// that is the report's failure.
front::RunReport run_forked_world(const world::Options& options, int processes, const std::function<void(Rank&)>& body);

}  // namespace shardlings::support
