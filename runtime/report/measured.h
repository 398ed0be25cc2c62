/// \file
/// What a run really took, on backends that measure: the same events with measured times in the place of virtual ones.
#pragma once

#include <optional>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Events that were measured, with their measured times; no memory curve, which has virtual times only. Calls that lie
/// inside one another stay so.
front::RankTrace measured_trace(const front::RankTrace& trace);

/// By rank; empty if nothing was measured anywhere.
std::vector<front::RankTrace> measured_traces(const std::vector<front::RankTrace>& traces);

/// A whole run with measured times, of the cases that have some; nothing if none has.
std::optional<grading::verdict::Verdict> measured_run(const grading::verdict::Verdict& run);

}  // namespace shardlings::report
