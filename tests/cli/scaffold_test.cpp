#include "cli/author/scaffold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/author/contract.h"
#include "cli/author/variants.h"
#include "cli/author/verification.h"
#include "cli/error.h"
#include "cli/folder.h"

namespace shardlings::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Scaffold : public testing::Test {
 protected:
  Scaffold() {
    folder_.write("puzzles/09_data_parallel/puzzle.toml", "");
    std::filesystem::create_directories(folder_ / "runtime/cli");
    std::filesystem::copy(SHARDLINGS_SOURCE "/runtime/cli/template", folder_ / "runtime/cli/template",
                          std::filesystem::copy_options::recursive);
  }
  std::string refusal(const std::string& id) {
    try {
      author::make_puzzle(project_, id);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "made";
  }
  TemporaryFolder folder_{"a project"};
  system::Project project_{folder_.path(), folder_ / "build"};
};

TEST_F(Scaffold, MakesAllFilesUnderTheirName) {
  author::make_puzzle(project_, "42_my_puzzle");
  for (const char* file : {"README.md", "after.md", "puzzle.cpp", "puzzle.toml", "harness.cpp", "grader.cpp"}) {
    EXPECT_NE(folder_.read("puzzles/42_my_puzzle/" + std::string(file)), "") << file;
  }
  EXPECT_THAT(folder_.read("solutions/42_my_puzzle/solution.cpp"), HasSubstr("void my_puzzle(Rank& rank"));
  EXPECT_THAT(folder_.read("puzzles/42_my_puzzle/README.md"), HasSubstr("# 42 My puzzle"));
  EXPECT_THAT(folder_.read("puzzles/42_my_puzzle/puzzle.cpp"), testing::Not(HasSubstr("@")));
}

TEST_F(Scaffold, RefusesBadAndTakenNames) {
  EXPECT_THAT(refusal("my_puzzle"), HasSubstr("two digits"));
  EXPECT_THAT(refusal("42_My"), HasSubstr("two digits"));
  EXPECT_THAT(refusal("42_../../x"), HasSubstr("two digits"));
  EXPECT_THAT(refusal("42"), HasSubstr("two digits"));
  EXPECT_THAT(refusal("09_other"), HasSubstr("taken"));
}

TEST_F(Scaffold, LeavesBlanksThatAreFound) {
  author::make_puzzle(project_, "42_my_puzzle");
  EXPECT_THAT(author::blanks_left(project_, "42_my_puzzle"), Contains("puzzles/42_my_puzzle/README.md:3"));
  EXPECT_THAT(author::blanks_left(project_, "09_data_parallel"), IsEmpty());
}

TEST_F(Scaffold, GivesAStubThatBelongsToItsSolution) {
  author::make_puzzle(project_, "42_my_puzzle");
  cases::Manifest puzzle = small_puzzle(42, "my_puzzle", "My puzzle");
  puzzle.diagnoses.insert(puzzle.diagnoses.end(),
                          {{"nothing_done", "Nothing is done.", {{cases::HintLevel::where, "a"}}},
                           {"too_much_sent", "Too much is sent.", {{cases::HintLevel::where, "b"}}}});
  EXPECT_THAT(
      author::static_problems(project_, puzzle),
      testing::ElementsAre("there are 2 mutants; at least 6 must be caught", HasSubstr("blanks (FILL) are left")));
  const std::string solution = folder_.read("solutions/42_my_puzzle/solution.cpp");
  const author::VariantFile mutants = author::load_variants(project_, puzzle, author::VariantKind::mutant);
  for (const author::Variant& mutant : mutants.variants) EXPECT_NO_THROW(author::applied(mutant, solution));
  const std::string stub = folder_.read("puzzles/42_my_puzzle/puzzle.cpp");
  EXPECT_THAT(author::load_contract(project_, puzzle, stub, mutants).problems, IsEmpty());
}

}  // namespace
}  // namespace shardlings::cli
