/// \file
/// Runs a submission on one case in a process of its own, and says how it went.
#pragma once

#include <string>

#include "case/case.h"
#include "grading/run/process.h"
#include "submission/wire/result.h"
#include "world/backend.h"

namespace shardlings::grading::run {

/// Limits for a case of so many ranks. A case takes some hundredths of a second, so only a runaway meets them; on GPUs
/// the driver's own start takes a second or two, and reserves memory as it likes.
ProcessLimits default_limits(int ranks, world::Backend backend = world::Backend::cpu);

/// Never throws for what the submission does; whatever it leaves behind, the result is consistent.
/// The backend is no part of the case: whatever is counted is the same on all.
wire::Result run_case(const std::string& submission, const cases::Case& kase, const ProcessLimits& limits,
                      world::Backend backend = world::Backend::cpu);

}  // namespace shardlings::grading::run
