#include "cli/terminal/text.h"

#include <algorithm>

namespace shardlings::cli::terminal {

namespace {

/// Bytes of the colour sequence at the beginning of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end == std::string_view::npos ? text.size() : end + 1;
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
}

}  // namespace

int shown_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const std::size_t skip = sequence_length(text);
    if (skip == 0 && begins_character(text[0])) ++width;
    text.remove_prefix(std::max<std::size_t>(skip, 1));
  }
  return width;
}

std::string cut(std::string_view text, int columns) {
  if (shown_width(text) <= columns) return std::string(text);
  std::string result;
  int width = 0;
  bool coloured = false;
  while (!text.empty()) {
    const std::size_t skip = sequence_length(text);
    if (skip == 0 && begins_character(text[0]) && ++width >= columns) break;
    coloured = coloured || skip > 0;
    const std::size_t taken = std::max<std::size_t>(skip, 1);
    result += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return result + "…" + (coloured ? "\x1b[0m" : "");
}

std::string padded(std::string_view text, int columns) {
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(0, columns - shown_width(text))), ' ');
}

std::vector<std::string> wrapped(std::string_view text, int columns) {
  std::vector<std::string> lines;
  std::string line;
  int width = 0;
  while (true) {
    const auto begin = text.find_first_not_of(" \n\t");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find_first_of(" \n\t"));
    const int word_width = shown_width(word);
    if (!line.empty() && width + 1 + word_width > columns) {
      lines.push_back(std::move(line));
      line.clear();
      width = 0;
    }
    if (!line.empty()) {
      line += ' ';
      ++width;
    }
    line += word;
    width += word_width;
    text.remove_prefix(word.size());
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const auto begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kWhite) - begin + 1));
}

}  // namespace shardlings::cli::terminal
