// What names of entries and of files say: of whom they are, and for which puzzle.
#include <algorithm>
#include <filesystem>
#include <regex>

#include "cli/submissions/students.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

/// Canvas numbers attempts: puzzle-1.cpp. A number with a zero before it is a puzzle's: puzzle-09.cpp.
std::string without_attempt(const std::string& stem) {
  static const std::regex kAttempt(R"((.+)-[1-9]\d{0,2})");
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
  if (std::regex_match(text, parts, kCanvas)) {
    return {parts[3], parts[1], parts[5], parts[2].matched, Platform::canvas};
  }
  return {"", "", text, false};
}

const cases::Manifest* puzzle_of(const std::string& path, const std::vector<cases::Manifest>& puzzles) {
  const fs::path file(path);
  const std::string stem = without_attempt(file.stem().string());
  if (stem != "puzzle") return puzzle_called(stem, puzzles);
  const fs::path folders = file.parent_path();
  for (auto at = folders.end(); at != folders.begin();) {
    if (const cases::Manifest* puzzle = puzzle_called((--at)->string(), puzzles)) return puzzle;
  }
  return puzzles.size() == 1 && folders.empty() ? &puzzles.front() : nullptr;
}

}  // namespace shardlings::cli::submissions
