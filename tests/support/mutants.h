/// \file
/// Wrong solutions of the puzzles, for tests that need one.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace shardlings::support {

/// The text of the puzzle's mutant, made from what lies below `solutions`. Throws std::runtime_error if there is none.
std::string text_of_mutant(const std::string& solutions, const std::string& id, const std::string& name);

/// The names of the puzzle's mutants whose diagnosis is one of these; of no diagnoses: of all mutants.
std::vector<std::string> names_of_mutants(const std::string& solutions, const std::string& id,
                                          const std::set<std::string>& diagnoses = {});

}  // namespace shardlings::support
