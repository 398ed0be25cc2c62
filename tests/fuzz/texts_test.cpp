// Whatever stands in puzzle.toml or in a kept run, it is read or refused: never a crash, never another kind of error.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "case/manifest.h"
#include "fuzz/damage.h"
#include "fuzz/fuzz.h"
#include "grading/verdict/run_file.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> puzzle_folders() {
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(SHARDLINGS_PUZZLES)) {
    if (fs::exists(entry.path() / "puzzle.toml")) folders.insert(entry.path());
  }
  return folders;
}

/// How many of so many damaged texts were refused, each with words.
template <typename Read>
std::int64_t refusals(const std::string& whole, std::uint64_t seed, std::int64_t times, const Read& read) {
  fuzz::Damage damaged(seed);
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < times; ++i) {
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

TEST(FuzzTexts, ManifestsAreReadOrRefused) {
  const std::set<fs::path> folders = puzzle_folders();
  const std::int64_t each = fuzz::tries(60 * std::ssize(folders)) / std::ssize(folders);
  std::int64_t refused = 0;
  std::uint64_t seed = fuzz::seed(1);
  for (const fs::path& folder : folders) {
    refused += refusals(read_whole_file((folder / "puzzle.toml").string()), seed++, each, [&](const std::string& text) {
      cases::parse_manifest(text, folder.string(), SHARDLINGS_CLUSTERS);
    });
  }
  std::cout << each * std::ssize(folders) << " manifests, " << refused << " of them refused\n";
  EXPECT_GT(refused, each * std::ssize(folders) / 10);
}

TEST(FuzzTexts, GoalsAreReadOrRefused) {
  std::vector<std::string> goals;
  for (const fs::path& folder : puzzle_folders()) {
    const auto goal = read_file((folder / "goal.json").string());
    if (goal && goal->size() <= 60'000) goals.push_back(*goal);  // the large ones hold nothing else
  }
  const std::int64_t each = fuzz::tries(25 * std::ssize(goals)) / std::ssize(goals);
  std::int64_t refused = 0;
  std::uint64_t seed = fuzz::seed(1);
  for (const std::string& goal : goals) {
    refused += refusals(goal, seed++, each,
                        [&](const std::string& text) { verdict::run_from_text(text, SHARDLINGS_CLUSTERS); });
  }
  std::cout << each * std::ssize(goals) << " kept runs, " << refused << " of them refused\n";
  EXPECT_GT(refused, each * std::ssize(goals) / 10);
}

}  // namespace
}  // namespace shardlings::grading
