/// \file
/// Ranks whose code runs in processes of their own and calls the runtime through mailboxes, as jails do. Unlike in a
/// jail, the code has a harness's right, so that it can publish what a test compares.
#pragma once

#include <functional>

#include "world/world.h"

namespace shardlings::support {

/// As world::run(). What the body has expected in vain fails the test; what it changes in its captures stays in its
/// process.
front::RunReport run_jailed_world(const world::Options& options, const std::function<void(Rank&)>& body);

}  // namespace shardlings::support
