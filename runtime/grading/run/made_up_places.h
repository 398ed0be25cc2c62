/// \file
/// A Location is the learner's to make up: a report points at lines of their file in which a call can stand, and at
/// none else.
#pragma once

#include <set>
#include <string>

#include "submission/wire/result.h"

namespace shardlings::grading::run {

/// Leaves out places that are neither in the file of that name nor in a harness, and those in lines of the file that
/// are not among `call_lines` (which are not known if there is none); what failed at one says so.
void leave_out_made_up_places(const std::string& source, const std::set<int>& call_lines, wire::Result& result);

}  // namespace shardlings::grading::run
