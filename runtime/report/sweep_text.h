/// \file
/// A sweep as a table, for a terminal, and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "simulation/sweep.h"

namespace shardlings::report {

/// "tp 4, pp 2".
std::string combination_text(const std::vector<simulation::SweepVariable>& variables,
                             const std::vector<double>& values);

/// Of two variables: a table of times, rows the first and columns the second. Of any other number: a line for each
/// combination. Then the combinations of which none is both faster and smaller.
std::vector<std::string> sweep_lines(const std::vector<simulation::SweepVariable>& variables,
                                     const std::vector<simulation::SweepPoint>& points,
                                     const std::vector<simulation::SweepResult>& results, int fastest,
                                     const Style& style);

std::string sweep_json(const std::vector<simulation::SweepVariable>& variables,
                       const std::vector<simulation::SweepPoint>& points,
                       const std::vector<simulation::SweepResult>& results);

}  // namespace shardlings::report
