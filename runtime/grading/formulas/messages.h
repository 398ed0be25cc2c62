/// \file
/// What messages between two ranks take, and by which calls a rank has received its own.
#pragma once

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// So many elements of f32 on a link inside a node, without its latency.
Nanos transfer_time(const cases::Case& kase, Count elements);

/// The rank has called recv_any.
bool receives_from_any(const judge::CheckContext& check, int rank);

}  // namespace shardlings::grading::formulas
