/// \file
/// The command line: which verb, which options.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace shardlings::cli {

/// Runs the command with its arguments (without the program's name) and returns the exit status. `program` is the path
/// of the program itself, from which the project is found. Never throws: what goes wrong is said on `err`.
int run_app(const std::string& program, const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err);

/// The verbs and options that run_app() takes.
grammar::Grammar grammar_of_app();

}  // namespace shardlings::cli
