/// \file
/// What a simulation came to, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "front/trace/run_report.h"
#include "report/style.h"

namespace shardlings::report {

/// How the simulation itself went.
struct SimulationCost {
  double seconds = 0;
};

/// A run that has come to its end: time, where it goes, memory of the fullest and the emptiest rank, kinds of ranks.
std::vector<std::string> simulation_lines(const cases::Case& kase, const front::RunReport& report,
                                          const SimulationCost& cost, const Style& style);

}  // namespace shardlings::report
