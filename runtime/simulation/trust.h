/// \file
/// How far a simulated time can be believed.
#pragma once

#include <string>

#include "case/case.h"

namespace shardlings::simulation {

/// A sentence for the end of a simulation: which cluster, speeds, precision and layers its time stands for, and that it
/// has not been compared with published ones.
std::string trust_in(const cases::Case& kase);

}  // namespace shardlings::simulation
