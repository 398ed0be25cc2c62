/// \file
/// A puzzle's goal: the run of its solution, reduced to what does not depend on the source text.
#pragma once

#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

/// What a puzzle's goal.json holds of its solution's run: for each case the counters, the bounds that checks compared,
/// and the traces without source lines, members of groups, and operations inside of calls of the model. Memory of one
/// instant is its highest and its last point. All of it is the same on every machine.
Verdict goal_of(const Verdict& run);

}  // namespace shardlings::grading::verdict
