/// \file
/// Runs test code on a single rank, and looks inside of what lies behind a rank.
#pragma once

#include <functional>
#include <string>

#include "front/rank_front.h"
#include "shardlings/rank.h"
#include "world/world.h"

namespace shardlings::support {

/// Runs `body`; its errors fail the test.
front::RunReport on_rank(const world::Options& options, const std::function<void(Rank&)>& body);
/// The message with which `body` fails; empty if it does not.
std::string error_on_rank(const world::Options& options, const std::function<void(Rank&)>& body);

/// The front of a rank of this process.
front::RankFront& front_of(Rank& rank);

}  // namespace shardlings::support
