// Whatever stands in puzzle.toml or in a kept run, it is read or refused: never a crash, never another kind of error.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "case/manifest.h"
#include "grading/verdict/run_file.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of_file(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

/// Changes texts as tired authors, failing disks and attackers do.
class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::string operator()(std::string text) {
    for (int changes = 1 + below(3); changes > 0 && !text.empty(); --changes) text = once(std::move(text));
    return text;
  }

 private:
  int below(std::size_t n) { return static_cast<int>(random_() % n); }

  std::string once(std::string text) {
    static const std::vector<std::string> kStrange = {"-1",
                                                      "0",
                                                      "1e400",
                                                      "nan",
                                                      "-inf",
                                                      "9223372036854775807",
                                                      "99999999999999999999",
                                                      "\"\"",
                                                      "[]",
                                                      "{}",
                                                      "true",
                                                      "null",
                                                      "'''",
                                                      "\"\"\"",
                                                      "[[cases]]\n",
                                                      "\xff\xfe",
                                                      std::string(1, '\0'),
                                                      "[[[[[[[[[[[[[[[[",
                                                      "1979-05-27"};
    const auto at = static_cast<std::size_t>(below(text.size()));
    switch (below(5)) {
      case 0: text[at] = static_cast<char>(random_()); return text;
      case 1: return text.substr(0, at);
      case 2: return number_replaced(text, at, kStrange[static_cast<std::size_t>(below(kStrange.size()))]);
      default: return line_moved(text);
    }
  }
  /// The next number or word after `at` becomes something else.
  static std::string number_replaced(const std::string& text, std::size_t at, const std::string& by) {
    const std::size_t begin = text.find_first_of("0123456789\"", at);
    if (begin == std::string::npos) return text + by;
    const std::size_t end = text.find_first_of(" ,\n]}", begin);
    return text.substr(0, begin) + by + (end == std::string::npos ? "" : text.substr(end));
  }
  /// A line is left out, or stands somewhere else, or twice.
  std::string line_moved(const std::string& text) {
    std::vector<std::string> lines = lines_of_file(text);
    const auto from = static_cast<std::size_t>(below(lines.size())), to = static_cast<std::size_t>(below(lines.size()));
    const std::string line = lines[from];
    if (below(3) != 0) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
    if (below(2) != 0 && to < lines.size()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), line);
    std::string moved;
    for (const std::string& one : lines) moved += one;
    return moved;
  }

  std::mt19937 random_;
};

std::set<fs::path> puzzle_folders() {
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(SHARDLINGS_PUZZLES)) {
    if (fs::exists(entry.path() / "puzzle.toml")) folders.insert(entry.path());
  }
  return folders;
}

/// How many of so many damaged texts were refused, each with words.
template <typename Read>
int refusals(const std::string& whole, unsigned seed, int times, const Read& read) {
  Damage damaged(seed);
  int refused = 0;
  for (int i = 0; i < times; ++i) {
    const std::string text = damaged(whole);
    try {
      read(text);
    } catch (const std::runtime_error& error) {
      EXPECT_STRNE(error.what(), "");
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "number " << i << " of seed " << seed << ": " << error.what() << "\n" << text.substr(0, 2000);
    }
  }
  return refused;
}

TEST(DamagedFiles, ManifestsAreReadOrRefused) {
  int refused = 0;
  unsigned seed = 0;
  for (const fs::path& folder : puzzle_folders()) {
    refused += refusals(read_whole_file((folder / "puzzle.toml").string()), ++seed, 60, [&](const std::string& text) {
      cases::parse_manifest(text, folder.string(), SHARDLINGS_CLUSTERS);
    });
  }
  EXPECT_GT(refused, 200);
}

TEST(DamagedFiles, GoalsAreReadOrRefused) {
  int refused = 0;
  unsigned seed = 0;
  for (const fs::path& folder : puzzle_folders()) {
    const auto goal = read_file((folder / "goal.json").string());
    if (!goal || goal->size() > 60'000) continue;  // the large ones hold nothing else
    refused += refusals(*goal, ++seed, 25,
                        [&](const std::string& text) { verdict::run_from_text(text, SHARDLINGS_CLUSTERS); });
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace shardlings::grading
