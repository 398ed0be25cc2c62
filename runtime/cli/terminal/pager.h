/// \file
/// Long texts, page by page.
#pragma once

#include <string>

#include "cli/context.h"

namespace shardlings::cli::terminal {

/// Prints the text; where the output is a terminal with fewer rows, through the program that PAGER names, or less.
void print_paged(const Context& context, const std::string& text);

}  // namespace shardlings::cli::terminal
