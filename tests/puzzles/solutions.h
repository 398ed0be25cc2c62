/// \file
/// Running the solutions of puzzles, and wrong ones, on cases of one's own.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "grading/build/toolchain.h"
#include "submission/wire/result.h"
#include "world/backend.h"

namespace shardlings::grading {

/// All puzzles of the course.
std::vector<std::string> puzzle_ids();

/// The solution of a puzzle or, if one is named, a mutant of it, built once. Fails the test if it does not build.
class Solution {
 public:
  Solution(const build::Toolchain& toolchain, const std::string& puzzle, const std::string& mutant = "");
  /// Another text in the place of the solution's. `file` is its name in traces.
  static Solution of_text(const build::Toolchain& toolchain, const std::string& puzzle, const std::string& file,
                          const std::string& text);
  /// Runs on this case, whatever puzzle that is from.
  wire::Result run(const cases::Case& kase, world::Backend backend = world::Backend::cpu) const;

 private:
  Solution() = default;
  std::string puzzle_;
  std::string program_;
};

}  // namespace shardlings::grading
