#include "report/harmless.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace shardlings::report {
namespace {

using CodeInterval = std::pair<char32_t, char32_t>;  // first and last code point

// Categories Cc, Zl, Zp and what is invisible or turns the direction of writing (Cf): all of it can disguise a text.
constexpr std::array<CodeInterval, 10> kHidden{{{0x00, 0x1F},
                                                {0x7F, 0x9F},
                                                {0xAD, 0xAD},
                                                {0x61C, 0x61C},
                                                {0x180E, 0x180E},
                                                {0x200B, 0x200F},
                                                {0x2028, 0x202E},
                                                {0x2060, 0x206F},
                                                {0xFEFF, 0xFEFF},
                                                {0xE0000, 0xE0FFF}}};

bool is_hidden(char32_t code) {
  return std::any_of(kHidden.begin(), kHidden.end(), [code](const CodeInterval& interval) {
    return interval.first <= code && code <= interval.second;
  });
}

}  // namespace

std::string harmless(std::string_view text, Charset charset) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
    } else if (character.code == '\n') {
      result += '\n';
    } else if (character.code == '\t') {
      result += "    ";
    } else if (character.code == '\r' && text.size() > 1 && text[1] == '\n') {
      // The line end that follows says it all.
    } else if (is_hidden(character.code)) {
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

}  // namespace shardlings::report
