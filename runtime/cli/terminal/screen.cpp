#include "cli/terminal/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "base/text.h"

namespace shardlings::cli::terminal {

using report::Role;

namespace {

// Title, keys, and the last row, which stays free so that nothing scrolls.
constexpr int kFrameRows = 3;
constexpr const char* kEndOfColours = "\x1b[0m";

/// Everything in a line at half brightness, its own colours included.
std::string dimmed(std::string line, const Context& context) {
  if (context.colour == report::Colour::none) return line;
  const std::string dim = "\x1b[0;2m";
  for (std::size_t at = 0; (at = line.find(kEndOfColours, at)) != std::string::npos; at += dim.size()) {
    line.replace(at, std::string_view(kEndOfColours).size(), dim);
  }
  return dim + line + kEndOfColours;
}

/// "lines 1-21 of 43", where not all are seen.
std::string place_of(int first, int room, int lines) {
  return lines <= room ? "" : fmt::format("lines {}-{} of {}", first + 1, std::min(first + room, lines), lines);
}

/// As many keys as fit beside the place; the last two are always there, since they show and end everything.
std::string key_line(const Screen& screen, const std::string& place, int columns, const Context& context) {
  constexpr std::size_t kAlways = 2;
  const std::string gap = "   ";
  const auto shown = [&](const auto& key) { return context.paint(Role::strong, key.first) + " " + key.second + gap; };
  const std::size_t optional = screen.keys.size() - std::min(screen.keys.size(), kAlways);
  std::string begin, end;
  for (std::size_t i = optional; i < screen.keys.size(); ++i) end += shown(screen.keys[i]);
  const int room = columns - columns_of(end) - columns_of(place);
  for (std::size_t i = 0; i < optional; ++i) {
    const std::string key = shown(screen.keys[i]);
    if (columns_of(begin) + columns_of(key) <= room) begin += key;
  }
  const std::string keys = begin + end;
  return keys + spaces(columns - columns_of(keys) - columns_of(place)) + context.paint(Role::dim, place);
}

}  // namespace

int body_rows(const Screen& screen, ScreenSize size) {
  return std::max(size.rows - kFrameRows - (screen.note.empty() ? 0 : 1), 3);
}

int scrolled(const Screen& screen, ScreenSize size, int lines) {
  const int last = static_cast<int>(lines_of(screen.body).size()) - body_rows(screen, size);
  return std::clamp(screen.first + lines, 0, std::max(last, 0));
}

std::string compose(const Screen& screen, ScreenSize size, const Context& context) {
  const auto body = lines_of(screen.body);
  const int room = body_rows(screen, size), lines = static_cast<int>(body.size()), first = scrolled(screen, size, 0);
  std::string text = "\x1b[H";
  const auto line = [&](const std::string& words) { text += cut(words, size.columns) + "\x1b[K\n"; };
  const int room_for_title = std::max(size.columns - columns_of(screen.status) - 2, 10);
  line(padded(cut(context.paint(Role::strong, screen.title), room_for_title), room_for_title) + "  " +
       context.paint(Role::warning, screen.status));
  if (!screen.note.empty()) line(screen.note);
  const bool has_room_for_air = lines + 2 <= room;
  if (has_room_for_air) line("");
  for (int i = first; i < std::min(first + room, lines); ++i) {
    const std::string& words = body[static_cast<std::size_t>(i)];
    line(screen.stale ? dimmed(words, context) : words);
  }
  if (has_room_for_air) line("");
  line(key_line(screen, place_of(first, room, lines), size.columns, context));
  return text + "\x1b[J";
}

}  // namespace shardlings::cli::terminal
