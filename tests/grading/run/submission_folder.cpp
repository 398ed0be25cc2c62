#include "grading/run/submission_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "grading/build/build_submission.h"

namespace shardlings::grading {

bool in_jails() {
  return std::getenv("SHARDLINGS_TEST_JAILS") != nullptr;
}

SubmissionFolder::SubmissionFolder(const std::string& body, const std::string& before) {
  std::string pattern = (std::filesystem::temp_directory_path() / "shardlings-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
  folder_ = pattern;
  write(
      "#include <shardlings/puzzle.h>\n#include <cstdio>\n#include <cstdlib>\n#include <stdexcept>\n"
      "#include <vector>\n\nusing namespace shardlings;\n\n" +
      before + "\nvoid sum_up(Rank& rank, View data) {\n" + body + "\n}\n");
}

SubmissionFolder::~SubmissionFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// Gradings of equal texts share their outcome, also of tests that run side by side: so each test has its own.
void SubmissionFolder::write(const std::string& text) const {
  std::ofstream(source()) << text << "// " << folder_ << '\n';
}

GradeOptions SubmissionFolder::graded_anew() const {
  GradeOptions options;
  options.puzzle_folder = SHARDLINGS_TEST_PUZZLE;
  options.build_folder = SHARDLINGS_TEST_BUILD;
  options.source = source();
  options.use_cache = false;
  return options;
}

run::Submission SubmissionFolder::build() const {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_TEST_BUILD);
  const build::BuildOutcome outcome =
      build::build_submission(toolchain, "50_sum", source(), SHARDLINGS_TEST_PUZZLE "/harness.cpp", folder_,
                              in_jails() ? build::Form::jail : build::Form::program);
  EXPECT_TRUE(outcome.built) << outcome.log;
  if (!in_jails()) return outcome.program;
  return {toolchain.puzzle("50_sum").broker, outcome.program};
}

}  // namespace shardlings::grading
