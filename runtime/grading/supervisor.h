/// \file
/// Runs a submission on one case in a process of its own, and says how it went.
#pragma once

#include <string>

#include "grading/case.h"
#include "grading/process.h"
#include "grading/result.h"

namespace shardlings::grading {

/// Limits for a case of so many ranks. A case takes some hundredths of a second, so only a runaway meets them.
ProcessLimits default_limits(int ranks);

/// Never throws for what the submission does; whatever it leaves behind, the result is consistent.
Result run_case(const std::string& submission, const Case& kase, const ProcessLimits& limits);

}  // namespace shardlings::grading
