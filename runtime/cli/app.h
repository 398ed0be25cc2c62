/// \file
/// The command line: which verb, which options.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace shardlings::cli {

class CommandLine;

/// Adds verbs to a command line (verbs/verbs.h).
using AddVerbs = void (*)(CommandLine&);

/// Runs the command with its arguments (without the program's name) and returns the exit status. `program` is the path
/// of the program itself, from which the project is found. Never throws: what goes wrong is said on `err`.
int run_app(const std::string& program, const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err);

/// The same with these verbs alone. Nothing, and not a word said, where they don't answer: the arguments name another
/// verb, or ask for help, or are wrong. Who knows all verbs then answers.
std::optional<int> try_verbs(AddVerbs add_verbs, const std::string& program, const std::vector<std::string>& arguments,
                             std::ostream& out, std::ostream& err);

/// run_app() for these verbs as if there were no others.
int run_app_of(AddVerbs add_verbs, const std::string& program, const std::vector<std::string>& arguments,
               std::ostream& out, std::ostream& err);

/// The verbs and options that run_app_of() takes: for tests, since a verb has them from its Context.
grammar::Grammar grammar_of_verbs(AddVerbs add_verbs);

}  // namespace shardlings::cli
