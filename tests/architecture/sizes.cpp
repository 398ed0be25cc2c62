// How long files and functions are, and what every header and test has.
#include <algorithm>
#include <regex>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

constexpr int kMostLinesOfFile = 400;
constexpr int kMostLinesOfFunction = 80;

struct Function {
  int line = 0;  ///< of its opening brace
  int lines = 0;
  std::string name;
};

/// What stands between the last ';', '{' or '}' and a brace tells what the brace opens.
bool opens_function(const std::string& before) {
  static const std::regex kContainer(
      R"(^\s*(\[\[[^\]]*\]\]\s*)?(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|enum|union|extern)\b)");
  if (before.find('(') == std::string::npos) return false;
  return !std::regex_search(before, kContainer);
}

std::string name_in(const std::string& before) {
  static const std::regex kName(R"(([A-Za-z_][A-Za-z0-9_:~]*)\s*\()");
  std::smatch match;
  return std::regex_search(before, match, kName) ? match[1].str() : "?";
}

/// One past the brace that closes the one at `open`.
std::size_t closing(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i + 1;
  }
  return code.size();
}

int line_at(const std::string& code, std::size_t position) {
  return 1 + static_cast<int>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

/// By matching braces: approximate, and good enough for "too long".
std::vector<Function> functions_of(const std::string& text) {
  const std::string code = code_of(text);
  std::vector<Function> functions;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ';' || code[i] == '}') begin = i + 1;
    if (code[i] != '{') continue;
    const std::string before = code.substr(begin, i - begin);
    if (opens_function(before)) {
      const std::size_t end = closing(code, i);
      functions.push_back({line_at(code, i), line_at(code, end) - line_at(code, i) + 1, name_in(before)});
      i = end - 1;
    }
    begin = i + 1;
  }
  return functions;
}

}  // namespace

std::vector<Violation> check_sizes(const Source& source) {
  std::vector<Violation> violations;
  const int lines = static_cast<int>(lines_of(source.text).size());
  if (lines > kMostLinesOfFile) {
    violations.push_back(
        {source.path, lines, "has " + std::to_string(lines) + " lines; 400 are the most: one idea to a file"});
  }
  for (const Function& function : functions_of(source.text)) {
    if (function.lines <= kMostLinesOfFunction) continue;
    violations.push_back({source.path, function.line,
                          function.name + " has " + std::to_string(function.lines) + " lines; 80 are the most"});
  }
  return violations;
}

std::vector<Violation> check_header(const Source& source) {
  std::vector<Violation> violations;
  if (source.text.find("#pragma once") == std::string::npos) {
    violations.push_back({source.path, 1, "a header begins with #pragma once"});
  }
  if (source.text.find("/// \\file") == std::string::npos) {
    violations.push_back({source.path, 1, "a header says in a \\file comment what it is for"});
  }
  return violations;
}

std::vector<Violation> check_test(const Source& source) {
  static const std::regex kDisabled(R"(\b(TEST|TEST_F|TEST_P|TYPED_TEST)\s*\([^)]*DISABLED_)");
  std::vector<Violation> violations;
  int number = 0;
  for (const std::string& line : lines_of(code_of(source.text))) {
    ++number;
    if (std::regex_search(line, kDisabled))
      violations.push_back({source.path, number, "a test is either right or removed"});
  }
  return violations;
}

}  // namespace shardlings::architecture
