#include "grading/build/include_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace shardlings::grading::build {
namespace {

constexpr std::array<std::string_view, 62> kAllowed = {
    "algorithm",     "array",   "bit",         "bitset",    "cassert",      "cctype",     "cinttypes",
    "climits",       "cmath",   "compare",     "concepts",  "cstddef",      "cstdint",    "cstdio",
    "cstdlib",       "cstring", "deque",       "exception", "forward_list", "functional", "initializer_list",
    "iomanip",       "ios",     "iostream",    "istream",   "iterator",     "limits",     "list",
    "map",           "memory",  "new",         "numbers",   "numeric",      "optional",   "ostream",
    "queue",         "ranges",  "ratio",       "set",       "span",         "sstream",    "stack",
    "stdexcept",     "string",  "string_view", "tuple",     "type_traits",  "typeinfo",   "unordered_map",
    "unordered_set", "utility", "valarray",    "variant",   "vector",       "version",    "assert.h",
    "limits.h",      "math.h",  "stddef.h",    "stdint.h",  "stdio.h",      "string.h"};

/// The rest of the line after the white space.
std::string_view behind_spaces(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Skips a word at the beginning, and the white space around it; false if another one stands there.
bool skip(std::string_view& text, std::string_view word) {
  text = behind_spaces(text);
  if (!text.starts_with(word)) return false;
  text = behind_spaces(text.substr(word.size()));
  return true;
}

/// What stands between the brackets or quotes; empty for anything else.
std::string_view header_name(std::string_view text) {
  if (text.empty() || (text[0] != '<' && text[0] != '"')) return {};
  const auto end = text.find(text[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
}

bool is_allowed(std::string_view header) {
  if (std::find(kAllowed.begin(), kAllowed.end(), header) != kAllowed.end()) return true;
  constexpr std::string_view kPrefix = "shardlings/";
  return header.starts_with(kPrefix) && header.find('/', kPrefix.size()) == std::string_view::npos;
}

bool is_inside(const std::filesystem::path& path, const std::string& folder) {
  const auto relative = path.lexically_normal().lexically_relative(std::filesystem::path(folder).lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::string check_includes(const std::string& source, const std::string& file) {
  std::istringstream lines(source);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string_view rest = line;
    if (!skip(rest, "#") && !skip(rest, "%:")) continue;
    if (!rest.starts_with("include") && !rest.starts_with("import")) continue;
    skip(rest, rest.starts_with("include") ? "include" : "import");
    const std::string_view header = header_name(rest);
    if (is_allowed(header)) continue;
    return fmt::format(
        "{}:{}: #include {}: a puzzle includes <shardlings/puzzle.h> and light headers of the standard library "
        "(<vector>, <algorithm>, <cmath>, <iostream>, …) only.",
        file, number, header.empty() ? std::string(rest) : "<" + std::string(header) + ">");
  }
  return "";
}

std::string check_dependencies(const std::string& rule, const std::string& source,
                               const std::vector<std::string>& folders) {
  std::istringstream words(rule.substr(std::min(rule.find(':') + 1, rule.size())));
  const std::filesystem::path own = std::filesystem::path(source).lexically_normal();
  std::string word;
  while (words >> word) {
    if (word == "\\") continue;
    const auto path = (own.parent_path() / word).lexically_normal();
    const bool known = path == own || std::any_of(folders.begin(), folders.end(),
                                                  [&](const std::string& folder) { return is_inside(path, folder); });
    if (!known) {
      return fmt::format("{}: it includes {}, which is not for puzzles.", own.filename().string(), word);
    }
  }
  return "";
}

}  // namespace shardlings::grading::build
