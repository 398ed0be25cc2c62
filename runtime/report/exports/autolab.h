/// \file
/// A verdict as the last lines that an autograder prints for Autolab (Autolab, docs/lab.md, "Writing autograders", and
/// docs/features/formatted-feedback.md).
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Text for the student, a line of JSON with a mark for each check, and as the last line the points, for a problem that
/// is named as the puzzle ("09_data_parallel"). What could not be judged has no points, not even 0.
std::string to_autolab(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
