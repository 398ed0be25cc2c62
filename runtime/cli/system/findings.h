/// \file
/// What of this machine the project can use.
#pragma once

#include <string>
#include <vector>

#include "cli/system/project.h"

namespace shardlings::cli::system {

/// Something that was looked for.
struct Finding {
  std::string name;     ///< "compiler"
  bool needed = false;  ///< without it nothing works
  std::string version;  ///< what was found; empty: nothing
  std::string meaning;  ///< what its absence means
  std::string fix;      ///< how to get it
  bool found() const { return !version.empty(); }
};

std::vector<Finding> examine(const Project& project);

}  // namespace shardlings::cli::system
