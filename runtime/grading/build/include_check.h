/// \file
/// Which headers a puzzle may include: shardlings/*.h and the standard library's light ones.
#pragma once

#include <string>
#include <vector>

namespace shardlings::grading::build {

/// Looks at the `#include` lines of a source. Empty if they are in order, else a sentence with file and line.
std::string check_includes(const std::string& source, const std::string& file);

/// Looks at what the compiler says it has read (the text of a make rule, as -MMD writes it): only the source itself and
/// files below the folders. Empty, or a sentence.
std::string check_dependencies(const std::string& rule, const std::string& source,
                               const std::vector<std::string>& folders);

}  // namespace shardlings::grading::build
