/// \file
/// Puzzles outside of the repository: a folder with puzzles/ and solutions/ of its own, for a course or an author.
#pragma once

#include <functional>
#include <string>

#include "cli/system/project.h"

namespace shardlings::cli::system {

/// What becomes of a collection before a verb works on it.
enum class Prepare {
  nothing,  ///< the verb only reads texts
  make,     ///< the folders are made, if they are not there
  build     ///< harnesses and graders are built, in the repository's build folder
};

/// The project with the collection's puzzles in the place of its own. `say` is told what takes a while. What of a
/// collection does not build is in build/collection.log, and load_course says which puzzle it is. Throws UsageError
/// where the folder is no collection, or has a puzzle of a name that the repository has, too.
Project with_collection(Project project, const std::string& folder, Prepare prepare,
                        const std::function<void(const std::string&)>& say);

/// The log of what built the project's puzzles.
std::string build_log_of(const Project& project);

}  // namespace shardlings::cli::system
