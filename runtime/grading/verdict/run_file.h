/// \file
/// A whole run in one file: the verdict with counters and traces. What is exported, compared with, and, reduced to what
/// does not depend on the source text, kept as the goal of a puzzle.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

/// JSON of one line for each column of a trace; ranks that did the same are written once.
std::string run_to_text(const Verdict& run);
/// Reads what run_to_text() wrote. Throws std::runtime_error.
Verdict run_from_text(const std::string& text);

/// What a puzzle's goal.json holds of its solution's run: for each case the counters, the bounds that checks compared,
/// and the traces without source lines, members of groups, and operations inside of calls of the model. Memory of one
/// instant is its highest and its last point. All of it is the same on every machine.
Verdict goal_of(const Verdict& run);

}  // namespace shardlings::grading::verdict
