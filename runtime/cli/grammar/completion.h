/// \file
/// Completion for shells: verbs, options, ids of puzzles, and file names everywhere else.
#pragma once

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace shardlings::cli::grammar {

/// The shells that completion_for() knows.
const std::vector<std::string>& shells();

/// The script that a shell reads. It starts no program: ids are the names of the folders beside the command, so that a
/// press of the Tab key never builds anything.
std::string completion_for(const std::string& shell, const Grammar& grammar);

}  // namespace shardlings::cli::grammar
