/// \file
/// A build folder out of prebuilt parts (parts.h): what depends on the machine's compiler and on where everything lies.
#pragma once

#include <functional>
#include <string>

#include "cli/system/project.h"

namespace shardlings::cli::kit {

/// Whether the project has parts for this machine's kind, in place of sources that are built.
bool has_parts(const system::Project& project);

/// Precompiles the public header, lists what puzzles may read, and writes toolchain.json, if they are not there yet or
/// the parts, the compiler or the place are others now: some seconds, once. `say` is told when that begins. Throws
/// MachineFault where it fails: no compiler, a full disk.
void set_up(const system::Project& project, const std::function<void(const std::string&)>& say);

/// In a handout: gives each puzzle that has no file of the learner's its stub, and replaces those that are still an
/// older stub, word for word. What the learner has changed is never touched.
void provide_stubs(const system::Project& project);

}  // namespace shardlings::cli::kit
