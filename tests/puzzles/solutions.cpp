#include "puzzles/solutions.h"

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "grading/build/build_submission.h"
#include "grading/run/supervisor.h"
#include "support/mutants.h"

namespace shardlings::grading {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSolutions = SHARDLINGS_SOURCE_FOLDER "/solutions";

/// The solution's file, or one in the folder with the mutant.
std::string file_of(const std::string& puzzle, const std::string& mutant, const fs::path& folder) {
  if (mutant.empty()) return fmt::format("{}/{}/solution.cpp", kSolutions, puzzle);
  const std::string path = (folder / (mutant + ".cpp")).string();
  std::ofstream(path) << support::text_of_mutant(kSolutions, puzzle, mutant);
  return path;
}

/// The program that is built of the file.
std::string program_of(const build::Toolchain& toolchain, const std::string& puzzle, const std::string& file,
                       const fs::path& folder) {
  const build::BuildOutcome built = build::build_submission(
      toolchain, puzzle, file, fmt::format("{}/puzzles/{}/harness.cpp", SHARDLINGS_SOURCE_FOLDER, puzzle),
      folder.string());
  EXPECT_TRUE(built.built) << built.log;
  return built.program;
}

/// A folder for what this process builds, since several run at once; it goes with the process.
struct Builds {
  const fs::path folder = fs::path(testing::TempDir()) / ("solutions_" + std::to_string(getpid()));
  ~Builds() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

const fs::path& builds() {
  static const Builds all;
  return all.folder;
}

}  // namespace

std::vector<std::string> puzzle_ids() {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/puzzles")) {
    if (fs::exists(entry.path() / "puzzle.toml")) ids.push_back(entry.path().filename().string());
  }
  return ids;
}

Solution::Solution(const build::Toolchain& toolchain, const std::string& puzzle, const std::string& mutant)
    : puzzle_(puzzle) {
  const fs::path folder = builds() / (puzzle + mutant);
  fs::create_directories(folder);
  program_ = program_of(toolchain, puzzle, file_of(puzzle, mutant, folder), folder);
}

Solution Solution::of_text(const build::Toolchain& toolchain, const std::string& puzzle, const std::string& file,
                           const std::string& text) {
  const fs::path folder = builds() / ("text_of_" + puzzle);
  fs::create_directories(folder);
  std::ofstream(folder / file) << text;
  Solution solution;
  solution.puzzle_ = puzzle;
  solution.program_ = program_of(toolchain, puzzle, (folder / file).string(), folder);
  return solution;
}

wire::Result Solution::run(const cases::Case& kase, world::Backend backend) const {
  cases::Case own = kase;
  own.puzzle = puzzle_;
  return run::run_case(program_, own, run::default_limits(kase.ranks), backend);
}

}  // namespace shardlings::grading
