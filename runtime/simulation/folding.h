/// \file
/// Whether a folded run stands for all of its ranks, and what is said of it.
#pragma once

#include <string>

#include "case/case.h"
#include "front/trace/run_report.h"

namespace shardlings::simulation {

/// Why the replicas of a folded run that has come to its end are not equal, so that those that were not run are not
/// known; empty if they are.
std::string fault_of_fold(const cases::Case& kase, const front::RunReport& report);

/// "folded: 6 of 128 replicas were run, and stand for the others; …".
std::string fold_text(const cases::Case& kase);

}  // namespace shardlings::simulation
