#include "grading/run/submission_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "grading/build/build_submission.h"

namespace shardlings::grading {

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

void SubmissionFolder::write(const std::string& text) const {
  std::ofstream(source()) << text;
}

std::string SubmissionFolder::build() const {
  const build::BuildOutcome outcome = build::build_submission(build::load_toolchain(SHARDLINGS_TEST_BUILD), "50_sum",
                                                              source(), SHARDLINGS_TEST_PUZZLE "/harness.cpp", folder_);
  EXPECT_TRUE(outcome.built) << outcome.log;
  return outcome.program;
}

}  // namespace shardlings::grading
