/// \file
/// The command's page for man.
#pragma once

#include <string>

#include "cli/grammar/grammar.h"

namespace shardlings::cli::grammar {

/// The page in the language of roff, with the macros of man(7).
std::string man_page(const Grammar& grammar, const std::string& version);

}  // namespace shardlings::cli::grammar
