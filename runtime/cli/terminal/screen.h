/// \file
/// What `watch` shows: a title, a part of a text, and the keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/terminal/terminal_mode.h"

namespace shardlings::cli::terminal {

struct Screen {
  std::string title;   ///< one line
  std::string status;  ///< at the right of the title: "building…"
  std::string body;    ///< lines
  int first = 0;       ///< of them, the one at the top of the screen
  bool stale = false;  ///< the body is of a run that another one is about to replace
  std::vector<std::pair<std::string, std::string>> keys{};  ///< of the last row, and what they do
  std::string note{};                                       ///< one line below the title; may be empty
};

/// Lines that fill at most rows - 1 rows, none wider than the columns, each ended by "\x1b[K\n", beginning at the upper
/// left corner, the rest of the screen cleared.
std::string compose(const Screen& screen, ScreenSize size, const Context& context);

/// Rows that the body may have in a terminal of that size.
int body_rows(const Screen& screen, ScreenSize size);

/// Where the body begins after a move by so many lines: never beyond the place that shows its last line.
int scrolled(const Screen& screen, ScreenSize size, int lines);

}  // namespace shardlings::cli::terminal
