/// \file
/// Running the solutions of puzzles on cases of one's own.
#pragma once

#include <string>

#include "grading/case.h"
#include "grading/result.h"
#include "grading/toolchain.h"

namespace shardlings::grading {

/// The solution of a puzzle, built once. Fails the test if it does not build.
class Solution {
 public:
  Solution(const Toolchain& toolchain, const std::string& puzzle);
  /// Runs on this case, whatever puzzle that is from.
  Result run(const Case& kase) const;

 private:
  std::string puzzle_;
  std::string program_;
};

}  // namespace shardlings::grading
