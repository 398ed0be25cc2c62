/// \file
/// Numbers of tensors that the learner's code reads. What it computes with them on the host is neither counted nor
/// timed, so a puzzle that has no need of them forbids them.
#pragma once

#include "grading/judge/grader.h"

namespace shardlings::grading::judge {

/// Fails a check that has passed if any rank has read a number: right results come first, so that a number can be
/// printed while one looks for a mistake.
void refuse_host_reads(CheckContext& check);

}  // namespace shardlings::grading::judge
