/// \file
/// How wide text is in a terminal, and how to make it fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlings::cli::terminal {

/// Columns that `text` takes in a terminal: characters, not bytes; colour sequences count nothing.
int shown_width(std::string_view text);
/// The first `columns` columns of `text`, colour sequences kept; ends with "…" where something was cut.
std::string cut(std::string_view text, int columns);
/// Spaces after `text` until it is `columns` wide.
std::string padded(std::string_view text, int columns);
/// Words of `text` in lines of at most `columns`; longer words stand alone.
std::vector<std::string> wrapped(std::string_view text, int columns);
/// Without white space at its ends.
std::string trimmed(std::string_view text);

}  // namespace shardlings::cli::terminal
