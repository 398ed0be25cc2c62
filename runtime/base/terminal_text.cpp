#include "base/terminal_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace shardlings {
namespace {

using CodeInterval = std::pair<char32_t, char32_t>;  // first and last code point

template <std::size_t n>
bool is_inside(const std::array<CodeInterval, n>& intervals, char32_t code) {
  return std::any_of(intervals.begin(), intervals.end(), [code](const CodeInterval& interval) {
    return interval.first <= code && code <= interval.second;
  });
}

// Marks that stand over the character before them, and what joins or varies characters without being seen.
constexpr std::array<CodeInterval, 7> kWithoutWidth{{{0x300, 0x36F},
                                                     {0x483, 0x489},
                                                     {0x1AB0, 0x1AFF},
                                                     {0x1DC0, 0x1DFF},
                                                     {0x200B, 0x200F},
                                                     {0x20D0, 0x20FF},
                                                     {0xFE00, 0xFE2F}}};
// Unicode's East_Asian_Width W and F, in coarse intervals: what terminals draw over two columns.
constexpr std::array<CodeInterval, 9> kWide{{{0x1100, 0x115F},
                                             {0x2E80, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

int columns_of_code(char32_t code) {
  if (is_inside(kWithoutWidth, code)) return 0;
  return is_inside(kWide, code) ? 2 : 1;
}

/// What is never divided: a character, or a colour sequence.
struct Piece {
  std::size_t size = 0;  // bytes
  int columns = 0;
  bool is_colour = false;
};

Piece first_piece(std::string_view text) {
  if (text.starts_with("\x1b[")) {
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return {end == std::string_view::npos ? text.size() : end + 1, 0, true};
  }
  const Character character = first_character(text);
  return {character.size, columns_of_code(character.code), false};
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
    if (head.empty() && !rest.empty()) head = rest.substr(0, first_piece(rest).size);
    if (head.size() < rest.size() && rest[head.size()] != ' ') {
      const std::size_t space = head.rfind(' ');
      if (space != std::string_view::npos && space > 0) head = head.substr(0, space);
    }
    rest.remove_prefix(head.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::size_t end = head.find_last_not_of(' ');
    head = end == std::string_view::npos ? std::string_view() : head.substr(0, end + 1);
    lines.push_back(head.empty() ? std::string() : margin + std::string(head));
  } while (!rest.empty());
}

// Splits at spaces outside of quotes.
std::vector<std::string> shell_words(std::string_view command) {
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

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    columns += piece.columns;
    text.remove_prefix(piece.size);
  }
  return columns;
}

std::string spaces(int n) {
  return std::string(static_cast<std::size_t>(std::max(0, n)), ' ');
}

std::string_view first_columns(std::string_view text, int columns) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Piece piece = first_piece(text.substr(size));
    columns -= piece.columns;
    if (columns < 0) break;
    size += piece.size;
  }
  return text.substr(0, size);
}

std::string cut(std::string_view text, int columns, std::string_view mark) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string result;
  int room = columns - columns_of(mark);
  bool coloured = false;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    room -= piece.columns;
    if (room < 0) break;
    coloured = coloured || piece.is_colour;
    result += text.substr(0, piece.size);
    text.remove_prefix(piece.size);
  }
  return result.append(mark) + (coloured ? "\x1b[0m" : "");
}

std::string padded(std::string_view text, int columns) {
  return std::string(text) + spaces(columns - columns_of(text));
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

std::vector<std::string> fill_lines(std::string_view text, int columns) {
  constexpr std::string_view kWhite = " \n\t";
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = text.find_first_not_of(kWhite); begin != std::string_view::npos;
       begin = text.find_first_not_of(kWhite)) {
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kWhite));
    text.remove_prefix(word.size());
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> wrap_command(std::string_view command, int columns) {
  if (columns_of(command) <= columns) return {std::string(command)};
  std::vector<std::string> lines(1);
  for (const std::string& word : shell_words(command)) {
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

}  // namespace shardlings
