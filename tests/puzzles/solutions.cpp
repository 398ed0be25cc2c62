#include "puzzles/solutions.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "grading/build/build_submission.h"
#include "grading/run/supervisor.h"

namespace shardlings::grading {

Solution::Solution(const build::Toolchain& toolchain, const std::string& puzzle) : puzzle_(puzzle) {
  namespace fs = std::filesystem;
  const std::string source = SHARDLINGS_SOURCE_FOLDER;
  const fs::path folder = fs::path(testing::TempDir()) / ("solution_" + puzzle);
  fs::create_directories(folder);
  const build::BuildOutcome built =
      build::build_submission(toolchain, puzzle, source + "/solutions/" + puzzle + "/solution.cpp",
                              source + "/puzzles/" + puzzle + "/harness.cpp", folder.string());
  EXPECT_TRUE(built.built) << built.log;
  program_ = built.program;
}

wire::Result Solution::run(const cases::Case& kase) const {
  cases::Case own = kase;
  own.puzzle = puzzle_;
  return run::run_case(program_, own, run::default_limits(kase.ranks));
}

}  // namespace shardlings::grading
