// What --help says, and how it looks in a terminal that is not wide.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using ::testing::HasSubstr;

/// An example that is one long word stands alone, and may be longer.
bool fits(const std::string& line, int columns) {
  const std::size_t gap = line.rfind("  ");
  return columns_of(line) <= columns || (gap != std::string::npos && line.find(' ', gap + 2) == std::string::npos);
}

class Help : public ::testing::TestWithParam<const char*> {};

TEST_P(Help, IsThereForEveryVerb) {
  const Learner shardlings;
  const Answer answer = shardlings({GetParam(), "--help"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.out, HasSubstr("Usage"));
}

TEST_P(Help, BreaksNoWord) {
  const Learner shardlings;
  const std::string wide = shardlings({GetParam(), "--help"}, {"COLUMNS=200"}).out;
  const std::string narrow = shardlings({GetParam(), "--help"}, {"COLUMNS=60"}).out;
  for (const std::string& line : lines_of(narrow)) EXPECT_TRUE(fits(line, 60)) << line;
  const auto words = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  EXPECT_EQ(words(narrow), words(wide));
}

TEST(HelpOfAll, FitsInto80Columns) {
  const Learner shardlings;
  for (const char* all : {"--help", "--help-all"}) {
    const Answer answer = shardlings({all}, {"COLUMNS=80"});
    EXPECT_EQ(answer.status, 0);
    for (const std::string& line : lines_of(answer.out)) EXPECT_TRUE(fits(line, 80)) << line;
  }
}

constexpr const char* kVerbs[] = {"list",    "run",     "watch",      "debug",        "trace",  "hint",
                                  "explain", "predict", "quiz",       "explain-back", "reset",  "solution",
                                  "records", "view",    "simulate",   "sweep",        "memory", "train",
                                  "grade",   "handout", "autograder", "gradescope",   "verify", "new",
                                  "doctor",  "test",    "check",      "completion",   "man"};
INSTANTIATE_TEST_SUITE_P(Verbs, Help, ::testing::ValuesIn(kVerbs));

TEST(HelpOfAll, ListsTheVerbsThatAreTestedAndNoOthers) {
  const Learner shardlings;
  std::istringstream lines(shardlings({"--help"}).out);
  std::string line;
  while (std::getline(lines, line) && line != "Subcommands:") continue;
  std::vector<std::string> verbs;
  while (std::getline(lines, line) && !line.empty()) {
    if (line.starts_with("   ")) continue;  // the meaning goes on
    std::istringstream words(line);
    words >> verbs.emplace_back();
  }
  EXPECT_THAT(verbs, ::testing::ElementsAreArray(kVerbs));
}

}  // namespace
}  // namespace shardlings::cli
