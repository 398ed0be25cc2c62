/// \file
/// The very first start shows the first lesson while the start script still builds what runs it, and the others.
#pragma once

#include <functional>
#include <string>

#include "cli/system/project.h"

namespace shardlings::cli::system {

/// Whether the start script builds in this folder at the moment: it holds a lock meanwhile, also where it does so
/// behind the command.
bool is_being_built(const std::string& build_folder);

/// Whether that is the very first time: nothing has ever been built to the end here.
bool is_first_built(const std::string& build_folder);

/// Returns once what judges this puzzle is built, or nobody builds any more. `say` is told that one waits, and why.
void wait_until_built(const Project& project, const std::string& id,
                      const std::function<void(const std::string&)>& say);

}  // namespace shardlings::cli::system
