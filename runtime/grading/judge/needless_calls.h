/// \file
/// Calls that no budget counts and no result needs.
#pragma once

#include "grading/judge/grader.h"

namespace shardlings::grading::judge {

/// Fails a check that has passed if any rank has read a number: right results come first, so that a number can be
/// printed while one looks for a mistake. What is computed with such numbers on the host is neither counted nor timed,
/// so a puzzle that has no need of them forbids them.
void refuse_host_reads(CheckContext& check);

/// Fails a check that has passed if any rank has called a barrier: it sends no byte, and where it does not wait in vain
/// it hides that a wait is missing.
void refuse_barriers(CheckContext& check);

}  // namespace shardlings::grading::judge
