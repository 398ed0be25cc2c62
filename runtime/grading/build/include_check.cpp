#include "grading/build/include_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace shardlings::grading::build {
namespace {

namespace fs = std::filesystem;

/// shardlings/NAME.h below the folder, or its compiled form.
bool is_public_header(const fs::path& path, const std::string& folder) {
  const fs::path relative = path.lexically_relative(fs::path(folder).lexically_normal());
  return relative.parent_path() == "shardlings" && (relative.extension() == ".h" || relative.extension() == ".gch");
}

/// The first line that has the word, or 0.
int line_with(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find(word) != std::string::npos) return number;
  }
  return 0;
}

}  // namespace

std::vector<std::string> files_of_rule(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) files.push_back(std::move(word));
    word.clear();
  };
  // Colons are parts of names, too; that of the rule has white space behind it.
  const std::size_t colon = rule.find(": ");
  for (std::size_t i = std::min(colon, rule.size() - (rule.empty() ? 0 : 1)) + 1; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    if (c == '\\' && (next == ' ' || next == '#')) {
      word += rule[++i];
    } else if (c == '$' && next == '$') {
      word += rule[++i];
    } else if (c == ' ' || c == '\n' || (c == '\\' && next == '\n')) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return files;
}

std::string check_dependencies(const std::string& rule, const ReadableFiles& readable, const std::string& text) {
  const fs::path own = fs::path(readable.source).lexically_normal();
  for (const std::string& file : files_of_rule(rule)) {
    const fs::path path = (own.parent_path() / file).lexically_normal();
    const bool known = path == own || readable.system.contains(path.string()) ||
                       std::any_of(readable.folders.begin(), readable.folders.end(),
                                   [&](const std::string& folder) { return is_public_header(path, folder); });
    if (known) continue;
    const int line = line_with(text, path.filename().string());
    return fmt::format(
        "{}{}: it includes {}, which is not for puzzles: <shardlings/puzzle.h> and light headers of the standard "
        "library "
        "are. Leave it out.",
        own.filename().string(), line > 0 ? fmt::format(":{}", line) : "", file);
  }
  return "";
}

}  // namespace shardlings::grading::build
