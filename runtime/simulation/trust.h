/// \file
/// How far a simulated time can be believed.
#pragma once

#include <string>

#include "simulation/layout.h"

namespace shardlings::simulation {

/// A sentence for the end of a simulation: which cluster, speeds, precision and layers its time stands for, and how far
/// such times were from published ones, if they have been compared.
std::string trust_in(const WishedCase& wished);

}  // namespace shardlings::simulation
