/// \file
/// What the start script's last build says about puzzles that do not build.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/system/project.h"

namespace shardlings::cli::learner {

/// A harness or a grader that could not be built.
struct BuildFailure {
  std::string id;      ///< of the puzzle
  std::string part;    ///< "harness" or "grader"
  std::string reason;  ///< the compiler's first error, with file and line, or else what the build said first
  bool operator==(const BuildFailure&) const = default;
};

/// The failures in a log of Ninja, which went on after each (-k 0).
std::vector<BuildFailure> failures_in(std::istream& log, const system::Project& project);

/// Those of build/build.log, without what was built since, by whatever means.
std::vector<BuildFailure> build_failures(const system::Project& project);

}  // namespace shardlings::cli::learner
