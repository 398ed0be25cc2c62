/// \file
/// What the compiler has read: the source, the public headers, and what the allowed standard headers consist of.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace shardlings::grading::build {

/// The files in a make rule as compilers write it (-MD); white space in their names is escaped there.
std::vector<std::string> files_of_rule(const std::string& rule);

/// Files that a submission may be made of.
struct ReadableFiles {
  std::string source;                ///< the copy that is compiled
  std::vector<std::string> folders;  ///< those with shardlings/*.h
  std::set<std::string> system;      ///< all that the allowed standard headers read
};

/// Looks at the compiler's own list. Empty, or a sentence; `text` is the source's, for the line.
std::string check_dependencies(const std::string& rule, const ReadableFiles& readable, const std::string& text);

}  // namespace shardlings::grading::build
