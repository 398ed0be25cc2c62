/// \file
/// What grades, ready to run: the command, graders, brokers, harnesses and the runtime as files of this machine's kind,
/// for machines that have a compiler and nothing to build these with. They lie in prebuilt/PLATFORM of a handout or
/// an autograder (platform.h); set_up.h makes a build folder of them.
#pragma once

#include <string>
#include <vector>

#include "cli/system/project.h"

namespace shardlings::cli::kit {

/// Writes the parts that these puzzles need into an empty or new folder, without what only debuggers read. They find
/// one another wherever the folder is moved to. Throws UsageError where something has not been built.
void write_parts(const system::Project& project, const std::vector<std::string>& puzzles, const std::string& folder);

}  // namespace shardlings::cli::kit
