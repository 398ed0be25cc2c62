/// \file
/// What Classroom 50's runner says of a submission.
#pragma once

#include "report/exports/classroom50.h"

namespace shardlings::cli::learner {

/// From the variables that the runner sets (Classroom 50, wiki/Advanced-Autograding.md, "Contract"), and the time of
/// the commit that `file` lies in or, outside of git's repositories, of the file. Throws UsageError that names what is
/// missing.
report::ClassroomSubmission classroom_submission(const std::string& file);

}  // namespace shardlings::cli::learner
