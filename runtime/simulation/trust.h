/// \file
/// How far a simulated time can be believed.
#pragma once

#include <string>

#include "case/case.h"
#include "simulation/stack_file.h"

namespace shardlings::simulation {

/// A sentence for the end of a simulation: which cluster, speeds, precision and layers its time stands for, and how far
/// such times were from published ones, if they have been compared. `stack`: the file of the case's; nullptr: ours.
std::string trust_in(const cases::Case& kase, const StackFile* stack);

}  // namespace shardlings::simulation
