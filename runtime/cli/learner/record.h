/// \file
/// What a course wants to know of a result beside its verdict: of which file it is, by which grader, and how the
/// learner came to it.
#pragma once

#include <string>

#include "cli/learner/progress.h"
#include "cli/system/project.h"

namespace shardlings::cli::learner {

/// What a verdict is about. To be made before the file is graded.
class Graded {
 public:
  /// `file`: graded as the puzzle of that id; empty: the learner's.
  /// `graded_for`: whose file it is, and for what, in the grader's words; empty: nothing is said of that.
  Graded(const system::Project& project, const std::string& puzzle, const std::string& file,
         std::string graded_for = "");

  /// The neutral result `verdict` with `file_sha256` (null if the file has changed meanwhile), with `puzzle_sha256` (of
  /// what grades: puzzle.toml, harness.cpp and grader.cpp), with `graded_for` where something was said, and, of the
  /// learner's own file, with `learner` and, once something was asked, `explained`. `past`: nullptr where it is not the
  /// learner's own. What is said of the learner stands in a file of the learner's, who could have written it.
  std::string beside(const std::string& verdict, const PuzzleProgress* past) const;

 private:
  std::string file_;
  std::string file_sha256_, puzzle_sha256_, graded_for_;
};

}  // namespace shardlings::cli::learner
