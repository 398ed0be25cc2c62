/// \file
/// The seed that a learner's function is given.
#pragma once

#include <cstdint>

#include "case/case.h"

namespace shardlings::cases {

/// A number that is as good a seed as the case's own, and from which that one cannot be found: whoever knows the seed
/// of a hidden case can repeat it at home. The same on all ranks, and in the grader.
SHARDLINGS_API std::uint64_t given_seed(const Case& kase);

}  // namespace shardlings::cases
