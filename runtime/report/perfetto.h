/// \file
/// A run for the Perfetto viewer and chrome://tracing.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// JSON in the Trace Event Format ("JSON Object Format" of the format's description by Duca and Sinclair, 2016): a
/// process for each rank, a thread for each lane (several where operations of a lane overlap), a complete event for
/// each operation with its source line, bytes, flops, memory, layer and micro-batch, a counter of memory by kind, and
/// an arrow from each send to its receive. Times are virtual, in microseconds.
std::string perfetto_trace(const grading::verdict::CaseVerdict& kase);

}  // namespace shardlings::report
