#include "grading/formulas/shared_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/file.h"

namespace shardlings::grading::formulas {
namespace {

namespace fs = std::filesystem;

std::string source_of(const std::string& file) {
  return read_file(std::string(SHARDLINGS_SOURCE_FOLDER) + "/runtime/grading/formulas/" + file).value_or("");
}

TEST(SharedDiagnosis, StandsInTheHeaderThatDeclaresItsFunction) {
  for (const SharedDiagnosis& shared : kSharedDiagnoses) {
    const std::string header = source_of(std::string(shared.header) + ".h");
    EXPECT_THAT(header, testing::HasSubstr(std::string(shared.function) + "(")) << shared.header;
  }
}

/// An id that is no SharedId could be one that the table does not have.
TEST(SharedDiagnosis, IsHowSharedCodeNamesWhatItFinds) {
  const std::regex bare(R"re(diagnose\((?:[^()]*\?)? *"[a-z_]+")re");
  for (const auto& entry :
       fs::directory_iterator(std::string(SHARDLINGS_SOURCE_FOLDER) + "/runtime/grading/formulas")) {
    const std::string file = entry.path().filename().string();
    std::smatch found;
    const std::string text = source_of(file);
    EXPECT_FALSE(std::regex_search(text, found, bare)) << file << ": " << found.str();
  }
}

TEST(SharedDiagnosis, OfAFunctionThatCallsAnotherOneIsItsToo) {
  EXPECT_TRUE(says_all_of("check_memory", "reason_of_excess"));
  EXPECT_FALSE(says_all_of("reason_of_excess", "check_memory"));
}

TEST(SharedDiagnosis, IsAnIdOrNone) {
  EXPECT_TRUE(SharedId().empty());
  constexpr SharedId kTwice("check_calls", "forward_twice");
  EXPECT_FALSE(kTwice.empty());
  EXPECT_EQ(std::string(kTwice), "forward_twice");
}

}  // namespace
}  // namespace shardlings::grading::formulas
