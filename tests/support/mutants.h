/// \file
/// Wrong solutions of the puzzles, for tests that need one.
#pragma once

#include <string>

namespace shardlings::support {

/// The text of the puzzle's mutant, made from what lies below `solutions`. Throws std::runtime_error if there is none.
std::string text_of_mutant(const std::string& solutions, const std::string& id, const std::string& name);

}  // namespace shardlings::support
