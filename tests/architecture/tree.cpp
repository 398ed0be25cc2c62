#include "architecture/tree.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace shardlings::architecture {
namespace {

namespace fs = std::filesystem;

bool has_ending(const std::string& name, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const auto& ending) { return ends_with(name, ending); });
}

/// Blanks out a stretch, keeping its line ends.
void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

/// One past the end of the string or character that begins at i.
std::size_t end_of_literal(const std::string& text, std::size_t i) {
  if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
    const std::size_t open = text.find('(', i);
    const std::string close = ")" + text.substr(i + 1, open - i - 1) + "\"";
    const std::size_t end = text.find(close, open);
    return end == std::string::npos ? text.size() : end + close.size();
  }
  std::size_t end = i + 1;
  while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// One past the end of the preprocessor line that begins at i, continued lines included.
std::size_t end_of_directive(const std::string& text, std::size_t i) {
  while (i < text.size() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return i;
}

bool is_digit_separator(const std::string& text, std::size_t i) {
  return text[i] == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
}

}  // namespace

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string to_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += "\n" + violation.path + ":" + std::to_string(violation.line) + ": " + violation.rule;
  }
  return text;
}

std::vector<Source> sources(const std::string& folder, const std::vector<std::string>& endings) {
  std::vector<Source> found;
  const fs::path root = project_folder();
  const auto take = [&](const fs::directory_entry& entry) {
    if (!entry.is_regular_file() || !has_ending(entry.path().filename().string(), endings)) return;
    found.push_back({fs::relative(entry.path(), root).string(), file_text(entry.path())});
  };
  if (folder == ".") {
    for (const auto& entry : fs::directory_iterator(root)) take(entry);
  } else if (fs::exists(root / folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) take(entry);
  }
  std::sort(found.begin(), found.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return found;
}

std::string code_of(const std::string& text) {
  std::string code = text;
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      end = std::min(text.find("*/", i), text.size() - 2) + 2;
    } else if (text[i] == '"' || (text[i] == '\'' && !is_digit_separator(text, i))) {
      end = end_of_literal(text, i);
    } else if (text[i] == '#' && line_start) {
      end = end_of_directive(text, i);
    } else {
      if (text[i] != ' ') line_start = text[i] == '\n';
      ++i;
      continue;
    }
    blank(code, i, end);
    i = end;
  }
  return code;
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) includes.push_back({match[2], match[1] == "\"", number});
  }
  return includes;
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string project_folder() {
  return SHARDLINGS_PROJECT_FOLDER;
}

ProgramRun run(const std::string& command) {
  ProgramRun ended;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 65536> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ended.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

ProgramRun compile(const std::string& arguments) {
  const std::string runtime = project_folder() + "/runtime";
  const std::string command = std::string(SHARDLINGS_COMPILER) + " -std=c++20 -I'" + runtime + "' -I'" + runtime +
                              "/include' -I'" + project_folder() + "/tests' " + arguments;
  return run(command);
}

}  // namespace shardlings::architecture
