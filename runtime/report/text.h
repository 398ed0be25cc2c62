/// \file
/// Text of unknown origin for a terminal: made harmless, measured in columns, wrapped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace shardlings::report {

/// Text that moves no cursor and hides nothing: control characters, invisible and direction-changing code points and
/// broken UTF-8 become visible (`\x1b`, `\u{202e}`), tabs become spaces, line ends stay. In ASCII everything else
/// becomes '?'.
std::string harmless(std::string_view text, Charset charset);

/// The same as one line: line ends become visible, too. For names of files and cases.
std::string harmless_line(std::string_view text, Charset charset);

/// Harmless text between tags of XML or HTML, or between double quotes inside of one.
std::string markup(std::string_view text);

/// Columns that harmless text takes: 2 for East Asian wide characters and emoji, 0 for combining marks.
int columns_of(std::string_view text);

std::string spaces(int n);

/// The first whole characters of `text` that take at most `columns`.
std::string_view first_columns(std::string_view text, int columns);

/// Lines of at most `columns`, broken at spaces where there are any and never inside a character. Line ends of the
/// text stay, and lines that begin with spaces keep them (on the lines that continue them, too).
std::vector<std::string> wrap(std::string_view text, int columns);

/// A command in lines of at most `columns` that a shell reads as one: broken between its words, with a backslash.
/// A word longer than a line stays whole.
std::vector<std::string> wrap_command(std::string_view command, int columns);

}  // namespace shardlings::report
