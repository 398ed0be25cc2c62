/// \file
/// A whole run in one file: the verdict with counters and traces. What is exported, compared with, and kept as the goal
/// of a puzzle (goal.h).
///
/// JSON with a line for each case, check, bound, block of counters and column of a trace, so that a change of one of
/// them is a changed line. What is as usual (no rank, no formula, passed, zero) is left out; ranks that did the same
/// are written once. Files of the first format, in which everything is written out, are read like those of the second.
/// Its members are those of the neutral result (verdict.h), and `traces` (trace_json.h).
///
/// `verify --goals` writes goals and `view --export` other runs; `view`, `explain` and `verify` read them.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

/// A file that stands alone.
std::string run_to_text(const Verdict& run);
/// A file that lies beside the clusters: what a case's cluster has from the one of its name is left out.
std::string goal_to_text(const Verdict& goal, const std::string& clusters_folder);
/// Reads what either has written. Throws std::runtime_error.
Verdict run_from_text(const std::string& text, const std::string& clusters_folder);

}  // namespace shardlings::grading::verdict
