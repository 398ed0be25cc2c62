/// \file
/// What `watch` shows: a title, a text cut to fit, and the keys.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/terminal/terminal_mode.h"

namespace shardlings::cli::terminal {

struct Screen {
  std::string title;       ///< one line
  std::string status;      ///< at the right of the title: "building…"
  std::string body;        ///< lines
  std::string more;        ///< what shows the rest where the body is cut: "./shardlings list"
  bool can_go_on = false;  ///< the puzzle is solved: the key n works
};

/// Lines that fill at most rows - 1 rows, none wider than the columns, each ended by "\x1b[K\n", beginning at the upper
/// left corner, the rest of the screen cleared.
std::string compose(const Screen& screen, ScreenSize size, const Context& context);

/// Rows that a body may have in a screen of that size.
int body_rows(ScreenSize size);

}  // namespace shardlings::cli::terminal
