/// \file
/// What a course says of itself: the file that `handout` is given.
/// \code{.toml}
/// name = "Distributed training, winter 2026"
/// contact = "the forum, or ask@example.edu"        # whom students ask (default: nobody is named)
/// puzzles = ["01-07", "09"]                         # as --puzzles, which comes before it
/// second_parts = false                              # leaves out what lessons tell after the pass (default true)
/// hints = false                                     # leaves out the hints (default true)
/// due = { 01 = "2026-12-01T18:00:00+01:00" }        # for the table of the README; points are nobody's here
/// \endcode
#pragma once

#include <map>
#include <string>
#include <vector>

namespace shardlings::cli::kit {

struct CourseFile {
  std::string name, contact;
  std::vector<std::string> puzzles;
  bool second_parts = true, hints = true;
  std::map<std::string, std::string> due;  ///< by what names the puzzle
};

/// Reads it; an empty path is a course without a name. Throws UsageError where it cannot be read, and
/// std::runtime_error with file and line where it says what there is not.
CourseFile load_course_file(const std::string& path);

}  // namespace shardlings::cli::kit
