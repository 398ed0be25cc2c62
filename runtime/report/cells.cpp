#include "report/cells.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/terminal_text.h"

namespace shardlings::report {
namespace {

struct Look {
  Role role;  ///< where no layer or stage gives the colour
  const char* unicode;
  const char* ascii;
  const char* name;
};

// By Paint.
constexpr std::array<Look, 11> kLooks{{{Role::plain, " ", " ", "idle"},
                                       {Role::forward, "█", "#", "forward"},
                                       {Role::backward, "▒", "=", "backward"},
                                       {Role::weights, "░", "w", "weights"},
                                       {Role::update, "▚", "l", "loss"},
                                       {Role::update, "▞", "u", "update"},
                                       {Role::operation, "▓", "+", "operation"},
                                       {Role::transfer, "━", "~", "collective"},
                                       {Role::transfer, "→", ">", "send"},
                                       {Role::transfer, "←", "<", "receive"},
                                       {Role::transfer, "↔", "x", "both ways"}}};

const Look& look_of(Paint paint) {
  return kLooks[static_cast<std::size_t>(paint)];
}

Role role_of(const Cell& cell) {
  return cell.hue >= 0 ? role_of_hue(cell.hue) : look_of(cell.paint).role;
}

/// Full blocks carry their numbers on a ground of their colour, so that they stay full; shaded ones in their colour.
bool on_ground(const Cell& cell) {
  return cell.digit != 0 && cell.paint == Paint::forward;
}

std::string text_of(const Cell& cell, const Style& style) {
  if (cell.digit != 0) return {cell.digit};
  const Look& look = look_of(cell.paint);
  return cell.begins ? style.pick("╎", "|") : style.pick(look.unicode, look.ascii);
}

const char* numbers_word(const Timeline& timeline) {
  const bool any = std::any_of(timeline.rows.begin(), timeline.rows.end(), [](const Row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](const Cell& cell) { return cell.digit != 0; });
  });
  if (!any || timeline.numbering == Numbering::none) return "";
  return timeline.numbering == Numbering::micro_batch ? "micro-batches" : "layers";
}

const char* colours_word(const Timeline& timeline, const Style& style) {
  if (!style.coloured() || timeline.colouring == Colouring::none) return "";
  return timeline.colouring == Colouring::stage ? "stages" : "layers";
}

}  // namespace

std::string drawn(const Row& row, const Style& style) {
  std::string line;
  for (std::size_t c = 0; c < row.cells.size();) {
    const Cell& first = row.cells[c];
    std::string text;
    // Cells of one look are written with one escape sequence.
    for (; c < row.cells.size() && role_of(row.cells[c]) == role_of(first) &&
           on_ground(row.cells[c]) == on_ground(first) &&
           (row.cells[c].paint == Paint::idle) == (first.paint == Paint::idle);
         ++c) {
      text += text_of(row.cells[c], style);
    }
    line += on_ground(first) ? style.on(role_of(first), text) : style(role_of(first), text);
  }
  return line;
}

std::vector<std::pair<std::string, int>> legend_of(const Timeline& timeline, const Style& style) {
  std::array<bool, kLooks.size()> seen{};
  for (const Row& row : timeline.rows) {
    for (const Cell& cell : row.cells) seen[static_cast<std::size_t>(cell.paint)] = true;
  }
  std::vector<std::pair<std::string, int>> parts;
  for (std::size_t i = 1; i < kLooks.size(); ++i) {
    if (!seen[i]) continue;
    const std::string glyph = style.pick(kLooks[i].unicode, kLooks[i].ascii);
    parts.emplace_back(style(kLooks[i].role, glyph) + style(Role::dim, fmt::format(" {}", kLooks[i].name)),
                       2 + columns_of(kLooks[i].name));
  }
  const std::string numbers = numbers_word(timeline);
  const std::string colours = colours_word(timeline, style);
  if (!numbers.empty()) parts.emplace_back(style(Role::dim, "numbers: " + numbers), 9 + columns_of(numbers));
  if (!colours.empty()) parts.emplace_back(style(Role::dim, "colours: " + colours), 9 + columns_of(colours));
  return parts;
}

}  // namespace shardlings::report
