/// \file
/// A Location is the learner's to make up: a report points at lines of their file, and at none of another one.
#pragma once

#include <string>

#include "submission/wire/result.h"

namespace shardlings::grading::run {

/// Leaves out places that are neither in the file of that name nor in a harness; what failed at one says so.
void leave_out_made_up_places(const std::string& source, wire::Result& result);

}  // namespace shardlings::grading::run
