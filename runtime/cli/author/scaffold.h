/// \file
/// The files of a new puzzle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/system/project.h"

namespace shardlings::cli::author {

/// Marks what an author still has to write, in the template and in what is made from it.
inline constexpr const char* kBlank = "FILL";

/// What the learner writes: a program of ranks, or a function that answers a question (Manifest::question).
enum class Asks : std::uint8_t { for_ranks, a_question };

/// Makes puzzles/ID and solutions/ID from the template; returns the paths of the new files.
/// Throws UsageError if the name is no good or taken.
std::vector<std::string> make_puzzle(const system::Project& project, const std::string& id,
                                     Asks asks = Asks::for_ranks);

/// The blanks that are left in a puzzle's files, as "puzzles/50_x/README.md:3".
std::vector<std::string> blanks_left(const system::Project& project, const std::string& id);

}  // namespace shardlings::cli::author
