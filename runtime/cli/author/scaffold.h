/// \file
/// The files of a new puzzle.
#pragma once

#include <string>
#include <vector>

#include "cli/system/project.h"

namespace shardlings::cli::author {

/// Marks what an author still has to write, in the template and in what is made from it.
inline constexpr const char* kBlank = "FILL";

/// Makes puzzles/ID and solutions/ID from the template; returns the paths of the new files.
/// Throws UsageError if the name is no good or taken.
std::vector<std::string> make_puzzle(const system::Project& project, const std::string& id);

/// The blanks that are left in a puzzle's files, as "puzzles/42_x/README.md:3".
std::vector<std::string> blanks_left(const system::Project& project, const std::string& id);

}  // namespace shardlings::cli::author
