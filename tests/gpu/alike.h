/// \file
/// Whether two runs of one program on different backends are alike: everything that is counted, and virtual time.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::gpu_tests {

/// In what `other` differs from `reference`, a line for each rank that differs; empty if they are alike. Compared are
/// the complete counters, every event and both memory curves of every rank of every case, but not measured times and
/// not numbers that were computed.
std::vector<std::string> differences(const grading::verdict::Verdict& reference,
                                     const grading::verdict::Verdict& other);

}  // namespace shardlings::gpu_tests
