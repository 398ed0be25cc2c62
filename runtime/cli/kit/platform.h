/// \file
/// Which of the prebuilt parts (parts.h) are this machine's.
#pragma once

#include <string>

#include "cli/system/project.h"

namespace shardlings::cli::kit {

/// What programs of this machine run on: "linux-x86_64".
std::string platform();

/// Where a project has parts for this machine's kind.
std::string parts_folder(const system::Project& project);

}  // namespace shardlings::cli::kit
