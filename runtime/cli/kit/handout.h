/// \file
/// A course's repository for its students.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/kit/course_file.h"
#include "cli/system/project.h"

namespace shardlings::cli::kit {

/// What came of it.
struct Written {
  int files = 0;                       ///< of the handout
  std::vector<std::string> removed;    ///< of an earlier one, which are there no more
  std::vector<std::string> new_stubs;  ///< ids of puzzles whose stub is another one than in the earlier handout
  bool has_work = false;               ///< somebody has put files into the students' folder work/
};

/// Writes the handout of these puzzles into a folder that is empty, new, or a handout already. Then it is brought up to
/// date: of what is there, only what a handout wrote is replaced or removed, and other platforms' parts stay. Nothing
/// of it is a solution, a grader's source or a hidden case. `course.due` is by ids here. Throws UsageError where the
/// folder holds something else, or has committed files in work/.
Written write_handout(const system::Project& project, const std::vector<cases::Manifest>& puzzles,
                      const CourseFile& course, const std::string& folder);

}  // namespace shardlings::cli::kit
