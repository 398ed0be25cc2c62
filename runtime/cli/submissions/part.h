/// \file
/// A part of a class: one of several commands that grade it together, each on a machine of its own, say.
#pragma once

#include <string>

#include "cli/submissions/students.h"

namespace shardlings::cli::submissions {

struct Part {
  int number = 1;  ///< from 1 to count
  int count = 1;
};

/// "3/16"; "03/16" is the same. Throws UsageError for anything else.
Part part_from(const std::string& text);

/// Leaves the students of that part. Which part somebody is in, their id alone says, or the ids of their group:
/// somebody who comes or goes moves nobody else. A group is in one part: its members have one verdict.
void keep_part(Submissions& submissions, const Part& part);

}  // namespace shardlings::cli::submissions
