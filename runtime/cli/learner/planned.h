/// \file
/// Puzzles that the course will have and does not have yet.
#pragma once

#include <string>
#include <vector>

#include "cli/learner/course.h"
#include "cli/system/project.h"

namespace shardlings::cli::learner {

struct PlannedPuzzle {
  int number = 0;
  std::string title;
  std::string chapter;  ///< as in a manifest: "7 Loosely coupled"
};

/// Those of docs/planned.toml that the course does not have, by chapter and number. A project without that file plans
/// nothing. Throws std::runtime_error naming file and key at fault.
std::vector<PlannedPuzzle> load_planned(const system::Project& project, const Course& course);

}  // namespace shardlings::cli::learner
