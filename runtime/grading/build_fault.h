/// \file
/// Tells a compiler that the machine let down from a source that is wrong.
#pragma once

#include <string>

namespace shardlings::grading {

/// Where compiler or linker say of themselves that they had no memory, no process or no room on the disk: that, and
/// what to do. Empty for all else, and for a source that says the same words.
std::string build_fault(const std::string& log);

}  // namespace shardlings::grading
