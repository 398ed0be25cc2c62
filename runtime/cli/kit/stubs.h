/// \file
/// In a handout: which stub a learner has begun from. An update of the course may bring another one.
#pragma once

#include <string>

#include "cli/system/project.h"

namespace shardlings::cli::kit {

/// Notes that the learner's file is this stub, word for word. Where that cannot be written, nothing is noted.
void note_stub(const system::Project& project, const std::string& id, const std::string& stub);

/// Whether the learner has begun from a stub that the course has changed since. False where nobody knows which it was,
/// as in a fresh clone of what was begun elsewhere.
bool has_newer_stub(const system::Project& project, const std::string& id);

/// What to tell of that, in a sentence or two; empty if there is nothing to tell.
std::string words_on_newer_stub(const system::Project& project, const std::string& id);

}  // namespace shardlings::cli::kit
