#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace shardlings::report {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t size = 1;  // bytes
  bool valid = false;
};

// Decodes one character by the table of well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {lead, 1, false};
  char32_t code = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1, false};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {lead, 1, false};
  return {code, size, true};
}

using Interval = std::pair<char32_t, char32_t>;

template <std::size_t n>
bool inside(const std::array<Interval, n>& intervals, char32_t code) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [code](const Interval& range) { return range.first <= code && code <= range.second; });
}

// Categories Cc, Zl, Zp and what is invisible or turns the direction of writing (Cf): all of it can disguise a text.
constexpr std::array<Interval, 10> kHidden{{{0x00, 0x1F},
                                            {0x7F, 0x9F},
                                            {0xAD, 0xAD},
                                            {0x61C, 0x61C},
                                            {0x180E, 0x180E},
                                            {0x200B, 0x200F},
                                            {0x2028, 0x202E},
                                            {0x2060, 0x206F},
                                            {0xFEFF, 0xFEFF},
                                            {0xE0000, 0xE0FFF}}};
constexpr std::array<Interval, 6> kCombining{
    {{0x300, 0x36F}, {0x483, 0x489}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE2F}}};
constexpr std::array<Interval, 8> kWide{{{0x1100, 0x115F},
                                         {0x2E80, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

int columns_of_code(char32_t code) {
  if (inside(kCombining, code)) return 0;
  return inside(kWide, code) ? 2 : 1;
}

// One line without line ends.
void wrap_line(std::string_view line, int columns, std::vector<std::string>& lines) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t indent = std::min(first, static_cast<std::size_t>(columns / 2));
  const std::string margin(indent, ' ');
  std::string_view rest = line.substr(first);
  const int room = std::max(1, columns - static_cast<int>(indent));
  do {
    std::string_view head = first_columns(rest, room);
    if (head.empty()) head = rest.substr(0, decode(rest.empty() ? " " : rest).size);
    if (head.size() < rest.size() && rest[head.size()] != ' ') {
      const std::size_t space = head.rfind(' ');
      if (space != std::string_view::npos && space > 0) head = head.substr(0, space);
    }
    rest.remove_prefix(std::min(head.size(), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::size_t end = head.find_last_not_of(' ');
    head = end == std::string_view::npos ? std::string_view() : head.substr(0, end + 1);
    lines.push_back(head.empty() ? std::string() : margin + std::string(head));
  } while (!rest.empty());
}

// Splits at spaces outside of quotes.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : command) {
    if (quote == 0 && c == ' ') {
      if (!words.back().empty()) words.emplace_back();
      continue;
    }
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
    words.back() += c;
  }
  return words;
}

}  // namespace

std::string harmless(std::string_view text, Charset charset) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = decode(text);
    if (!character.valid) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
    } else if (character.code == '\n') {
      result += '\n';
    } else if (character.code == '\t') {
      result += "    ";
    } else if (character.code == '\r' && text.size() > 1 && text[1] == '\n') {
      // The line end that follows says it all.
    } else if (inside(kHidden, character.code)) {
      const auto code = static_cast<unsigned>(character.code);
      result += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:x}}}", code);
    } else if (charset == Charset::ascii && character.code >= 0x80) {
      result += '?';
    } else {
      result += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  return result;
}

std::string harmless_line(std::string_view text, Charset charset) {
  std::string line;
  for (const char c : harmless(text, charset)) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line;
}

std::string markup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string spaces(int n) {
  return std::string(static_cast<std::size_t>(std::max(0, n)), ' ');
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character character = decode(text);
    columns += columns_of_code(character.code);
    text.remove_prefix(character.size);
  }
  return columns;
}

std::string_view first_columns(std::string_view text, int columns) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Character character = decode(text.substr(size));
    columns -= columns_of_code(character.code);
    if (columns < 0) break;
    size += character.size;
  }
  return text.substr(0, size);
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    wrap_line(text.substr(begin, end - begin), columns, lines);
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> wrap_command(std::string_view command, int columns) {
  if (columns_of(command) <= columns) return {std::string(command)};
  std::vector<std::string> lines(1);
  for (const std::string& word : words_of(command)) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (columns_of(line) + 1 + columns_of(word) + 2 <= columns) {
      line += ' ' + word;
    } else {
      line += " \\";
      lines.push_back("  " + word);
    }
  }
  return lines;
}

}  // namespace shardlings::report
