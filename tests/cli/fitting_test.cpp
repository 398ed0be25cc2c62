// What fits into a terminal of 24 rows and 80 columns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Fitting, ListsOnlyTheCurrentChapterUnlessAskedForAll) {
  const Learner shardlings;
  const std::string list = shardlings({"list"}).out;
  EXPECT_LE(lines_of(list).size(), 23u) << "it fits into a terminal of 24 rows";
  EXPECT_THAT(list, AllOf(HasSubstr("02 Gradient accumulation"), Not(HasSubstr("20 1F1B")), HasSubstr("list --all")));
  EXPECT_THAT(shardlings({"list", "--all"}).out, AllOf(HasSubstr("02 Gradient accumulation"), HasSubstr("20 1F1B")));
}

TEST(Fitting, BreaksNoWordOfTheMapOfMemory) {
  const Learner shardlings;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"memory", "--model", "gpt2", "--parallel", "dp=8,zero=3"}, {"memory", "--table"}}) {
    for (const std::string& line : lines_of(shardlings(command, {"COLUMNS=80"}).out)) {
      EXPECT_LE(columns_of(line), 80) << line;
    }
  }
}

}  // namespace
}  // namespace shardlings::cli
