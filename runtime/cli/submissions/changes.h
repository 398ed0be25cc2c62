/// \file
/// What has changed between two gradings of a class, and why.
#pragma once

#include <string>
#include <vector>

#include "cli/submissions/gradebook.h"

namespace shardlings::cli::submissions {

/// Every mark that is another one now, or that is in one of the two gradebooks alone, by student and puzzle. A mark of
/// another file that came to the same is no change.
std::vector<Change> changes_between(const Gradebook& old, const Gradebook& now);

/// Reads what to_json() wrote, its changes excepted. Throws std::runtime_error for anything else.
Gradebook gradebook_from_json(const std::string& text);

}  // namespace shardlings::cli::submissions
