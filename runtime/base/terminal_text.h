/// \file
/// How wide text is in a terminal, and how it is made to fit. Widths are in columns: wide characters of East Asia and
/// emoji take two, combining marks none. Colour sequences take none either, and are never cut in two.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// Columns that `text` takes. A byte that belongs to no character counts as one.
int columns_of(std::string_view text);

/// `n` spaces; none if `n` is negative.
std::string spaces(int n);

/// The first whole characters of `text` that take at most `columns`.
std::string_view first_columns(std::string_view text, int columns);

/// `text` if it takes at most `columns`; otherwise as much of its beginning as leaves room for the mark, which follows,
/// with the end of a colour if one was begun.
std::string cut(std::string_view text, int columns, std::string_view mark = "…");

/// Spaces after `text` until it is `columns` wide.
std::string padded(std::string_view text, int columns);

/// Lines of at most `columns`, broken at spaces where there are any and never inside a character. Line ends of the
/// text stay, and lines that begin with spaces keep them (on the lines that continue them, too).
std::vector<std::string> wrap(std::string_view text, int columns);

/// The words of `text` in lines of at most `columns`, whatever its own line ends are. A longer word stands alone.
std::vector<std::string> fill_lines(std::string_view text, int columns);

/// A command in lines of at most `columns` that a shell reads as one: broken between its words, with a backslash.
/// A word longer than a line stays whole.
std::vector<std::string> wrap_command(std::string_view command, int columns);

}  // namespace shardlings
