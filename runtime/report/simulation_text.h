/// \file
/// What a simulation came to: for a terminal, and for programs.
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

/// The same as JSON: times in nanoseconds, memory in bytes, shares of the time as parts of 1.
std::string simulation_json(const cases::Case& kase, const front::RunReport& report, const SimulationCost& cost);

}  // namespace shardlings::report
