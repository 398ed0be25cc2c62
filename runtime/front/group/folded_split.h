/// \file
/// A split in a run in which some replicas stand for others.
#pragma once

#include <optional>
#include <string>

#include "front/group/fold.h"

namespace shardlings::front {

struct Meeting;

/// Fills in the colors and keys of a split's members that do not run: they grow by the same number, or by none, from
/// each replica to the next. A sentence where those that run do not, so that the others are not known.
std::optional<std::string> complete_split(const Fold& fold, Meeting& split);

}  // namespace shardlings::front
