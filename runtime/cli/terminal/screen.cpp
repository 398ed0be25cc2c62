#include "cli/terminal/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "base/text.h"

namespace shardlings::cli::terminal {

using report::Role;

namespace {

// Title, empty line, empty line, keys, and the last row, which stays free so that nothing scrolls.
constexpr int kFrameRows = 5;

std::string keys(const Screen& screen, const Context& context) {
  const auto key = [&](const char* letter, const char* meaning) {
    return context.paint(Role::strong, letter) + " " + meaning + "   ";
  };
  std::string line = key("h", "hint");
  if (screen.can_go_on) line += key("n", "next puzzle");
  return line + key("l", "list") + key("r", "run again") + key("q", "quit");
}

}  // namespace

int body_rows(ScreenSize size) {
  return std::max(size.rows - kFrameRows, 3);
}

std::string compose(const Screen& screen, ScreenSize size, const Context& context) {
  auto body = lines_of(screen.body);
  const auto room = static_cast<std::size_t>(body_rows(size));
  if (body.size() > room) {
    const std::size_t left_out = body.size() - (room - 1);
    body.resize(room - 1);
    body.push_back(context.paint(Role::dim, fmt::format("({} more lines: {})", left_out, screen.more)));
  }
  std::string text = "\x1b[H";
  const auto line = [&](const std::string& words) { text += cut(words, size.columns) + "\x1b[K\n"; };
  const int room_for_title = std::max(size.columns - columns_of(screen.status) - 2, 10);
  line(padded(cut(context.paint(Role::strong, screen.title), room_for_title), room_for_title) + "  " +
       context.paint(Role::warning, screen.status));
  line("");
  for (const std::string& words : body) line(words);
  line("");
  line(keys(screen, context));
  return text + "\x1b[J";
}

}  // namespace shardlings::cli::terminal
