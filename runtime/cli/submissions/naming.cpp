#include "cli/submissions/naming.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/text.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

/// Platforms number files of one name: puzzle-1.cpp, puzzle (1).cpp. A number with a zero before it is a puzzle's:
/// puzzle-09.cpp.
std::string without_attempt(const std::string& stem) {
  static const std::regex kAttempt(R"((.+?)(?:-[1-9]\d{0,2}| ?\([1-9]\d{0,2}\)))");
  std::smatch parts;
  return std::regex_match(stem, parts, kAttempt) ? parts[1].str() : stem;
}

/// The puzzle that "09", "9", "puzzle09", "09_data_parallel" or another word after the number names.
const cases::Manifest* puzzle_called(const std::string& word, const std::vector<cases::Manifest>& puzzles) {
  static const std::regex kNumbered(R"((?:puzzle[_-]?)?0*(\d{1,3})(?:_[A-Za-z0-9_]*)?)", std::regex::icase);
  std::smatch parts;
  for (const cases::Manifest& puzzle : puzzles) {
    if (word == puzzle.id) return &puzzle;
  }
  if (!std::regex_match(word, parts, kNumbered)) return nullptr;
  const int number = std::stoi(parts[1].str());
  const auto found = std::find_if(puzzles.begin(), puzzles.end(),
                                  [number](const cases::Manifest& puzzle) { return puzzle.number == number; });
  return found == puzzles.end() ? nullptr : &*found;
}

}  // namespace

EntryName entry_name(std::string_view name, bool is_folder) {
  static const std::regex kGradescope(R"(submission_(\d+))");
  static const std::regex kMoodle(R"((.+)_(\d+)_assignsubmission_(?:file|onlinetext)_?(.*))");
  static const std::regex kAnonymous(R"(anon_(LATE_)?([A-Za-z0-9]+)_(\d+)_(.+))");
  static const std::regex kCanvas(R"(([^_]+)_(LATE_)?(\d+)_(\d+)_(.+))");
  const std::string text(name);
  std::smatch parts;
  if (std::regex_match(text, parts, kMoodle)) {
    return {parts[2], parts[1], is_folder ? "" : parts[3].str(), false, Platform::moodle};
  }
  if (is_folder) {
    if (std::regex_match(text, parts, kGradescope)) return {parts[1], "", "", false, Platform::gradescope};
    return {text, "", "", false};
  }
  if (std::regex_match(text, parts, kAnonymous)) return {parts[2], "", parts[4], parts[1].matched, Platform::canvas};
  if (std::regex_match(text, parts, kCanvas)) return {parts[3], parts[1], parts[5], parts[2].matched, Platform::canvas};
  return {"", "", text, false};
}

bool is_source(const std::string& name) {
  static const std::regex kSource(R"(\.(cpp|cc|cxx|c\+\+)$|\.C$)", std::regex::icase);
  // A .c in small letters is C, which somebody may have beside their work.
  return std::regex_search(name, kSource) && !name.ends_with(".c");
}

bool is_nearly_source(const std::string& name) {
  static const std::regex kNearly(R"(\.cpp)", std::regex::icase);
  return !is_source(name) && std::regex_search(name, kNearly);
}

bool is_plain_puzzle(const std::string& path) {
  return without_attempt(fs::path(path).stem().string()) == "puzzle";
}

const cases::Manifest* puzzle_of(const std::string& path, const std::vector<cases::Manifest>& puzzles) {
  const fs::path file(path);
  if (!is_plain_puzzle(path)) return puzzle_called(without_attempt(file.stem().string()), puzzles);
  const fs::path folders = file.parent_path();
  for (auto at = folders.end(); at != folders.begin();) {
    if (const cases::Manifest* puzzle = puzzle_called((--at)->string(), puzzles)) return puzzle;
  }
  return nullptr;
}

int number_said_in(const std::string& text) {
  static const std::regex kSaid("(?:\xEF\xBB\xBF)?\\s*//\\s*Puzzle 0*(\\d{1,3})[.:][\\s\\S]*");
  constexpr std::size_t kHead = 30;  // lines: somebody may have written their name above
  int number = 0;
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < std::min(lines.size(), kHead); ++i) {
    std::smatch parts;
    if (lines[i].size() > 200 || !std::regex_match(lines[i], parts, kSaid)) continue;
    const int said = std::stoi(parts[1].str());
    if (number != 0 && number != said) return 0;
    number = said;
  }
  return number;
}

}  // namespace shardlings::cli::submissions
