/// \file
/// Tables of a lesson, fitted into the width of a terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace shardlings::cli::terminal {

/// The cells of one line "| a | b |", trimmed.
std::vector<std::string> table_cells(const std::string& line);

/// Rows of cells as aligned columns of at most `width` in all; long cells are wrapped. The second row of a Markdown
/// table ("|---|") becomes a rule.
std::string render_table(const std::vector<std::vector<std::string>>& rows, const Context& context, int width);

}  // namespace shardlings::cli::terminal
