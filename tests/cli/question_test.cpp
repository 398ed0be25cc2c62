// A new puzzle is good once its blanks are filled; and a question, whose function has no ranks, is asked, judged and
// shown like any other puzzle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Makes the puzzle, and fills its blanks: the filled files differ from the new ones in the lines with blanks only.
void make_and_fill(const Learner& shardlings, const std::vector<std::string>& command, const std::string& all_filled) {
  ASSERT_EQ(shardlings(command).status, 0);
  const Answer blank = shardlings({"verify", command.at(1)});
  EXPECT_EQ(blank.status, 1);
  EXPECT_THAT(blank.out, HasSubstr("blanks (FILL) are left"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(all_filled)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), all_filled).string();
    const std::string filled = read_file(entry.path().string()).value_or("");
    for (const std::string& line : lines_of(shardlings.folder().read(name))) {
      if (line.find("FILL") != std::string::npos) continue;
      EXPECT_THAT(filled, HasSubstr(line)) << name;
    }
    shardlings.folder().write(name, filled);
  }
}

TEST(Command, MakesAPuzzleThatIsGoodOnceItsBlanksAreFilled) {
  const Learner shardlings;
  const std::string id = "90_sum_over_ranks";
  make_and_fill(shardlings, {"new", id}, SHARDLINGS_FILLED);
  EXPECT_THAT(shardlings({"verify", id}).out, HasSubstr("goal.json is missing"));
  EXPECT_EQ(shardlings({"verify", id, "--goals"}).status, 0);
  const Answer good = shardlings({"verify", id});
  EXPECT_EQ(good.status, 0) << good.out << good.err;
}

TEST(Command, MakesAQuestionThatIsGoodOnceItsBlanksAreFilled) {
  const Learner shardlings;
  const std::string id = "91_speed_up";
  make_and_fill(shardlings, {"new", id, "--question"}, SHARDLINGS_FILLED_QUESTION);
  const Answer good = shardlings({"verify", id});
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  const Answer jailed = shardlings({"verify", id, "--jail"});
  EXPECT_EQ(jailed.status, 0) << jailed.out << jailed.err;
}

/// What is about ranks says that it has none.
class Question : public testing::Test {
 protected:
  Question() { make_and_fill(shardlings, {"new", kId, "--question"}, SHARDLINGS_FILLED_QUESTION); }
  /// The solution with another line in its place.
  void write(const std::string& line) {
    std::string text = shardlings.folder().read("solutions/" + kId + "/solution.cpp");
    const std::string answer = "  return seconds.front() / seconds.back();";
    text.replace(text.find(answer), answer.size(), line);
    shardlings.folder().write("puzzles/" + kId + "/puzzle.cpp", text);
  }

  const std::string kId = "91_speed_up";
  Learner shardlings;
};

TEST_F(Question, IsReportedWithoutATimeline) {
  write("  return seconds.back() / seconds.front();");
  const Answer jailed = shardlings({"run", kId, "--jail"});
  EXPECT_EQ(jailed.status, 1);
  EXPECT_THAT(jailed.out, AllOf(HasSubstr("3.2 times"), HasSubstr("0.3125 times (-90.2 %)")));
  const Answer wrong = shardlings({"run", kId});
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("3.2 times"), Not(HasSubstr("Where the time went")), Not(HasSubstr("peak"))));
  for (const auto& [verb, what] :
       {std::pair{"view", "draw"}, {"trace", "trace"}, {"simulate", "simulate"}, {"explain-back", "ask about"}}) {
    const Answer refused = shardlings({verb, kId});
    EXPECT_EQ(refused.status, 2) << verb;
    EXPECT_THAT(refused.err, HasSubstr(std::string("there is nothing to ") + what)) << verb;
  }
}

TEST_F(Question, ThatIsNeverAnsweredIsStopped) {
  write("  volatile double x = 1;\n  while (seconds.front() > 0) x = x + 1;\n  return x;");
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"run", kId, "--case", "1 run"}, {"run", kId, "--case", "1 run", "--jail"}}) {
    const Answer endless = shardlings(how);
    EXPECT_EQ(endless.status, 1);
    EXPECT_THAT(endless.out, HasSubstr("puzzle.cpp:18")) << "the line of the loop";
  }
}

TEST_F(Question, ThatCrashesNamesTheLine) {
  write("  const double* none = nullptr;\n  return seconds.front() / *none;");
  for (const std::vector<std::string>& how : {std::vector<std::string>{"run", kId}, {"run", kId, "--jail"}}) {
    const Answer crashed = shardlings(how);
    EXPECT_EQ(crashed.status, 1);
    EXPECT_THAT(crashed.out, AllOf(HasSubstr("crashed"), HasSubstr("puzzle.cpp:18")));
  }
}

TEST_F(Question, IsPredictedFromItsListsAndExported) {
  EXPECT_THAT(shardlings({"predict", kId, "--reveal"}).out,
              AllOf(HasSubstr("seconds = 8, 4.5, 2.5"), Not(HasSubstr("N = "))));
  write("  return seconds.front() / seconds.back();");
  const Answer passed = shardlings({"run", kId});
  EXPECT_EQ(passed.status, 0) << passed.out << passed.err;
  for (const char* platform : {"gradescope", "prairielearn", "junit"}) {
    const std::string file = shardlings.folder() / platform;
    const Answer exported = shardlings({"run", kId, "--export", std::string(platform) + "=" + file});
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_THAT(shardlings.folder().read(platform), AllOf(Not(testing::IsEmpty()), Not(HasSubstr("image/svg"))));
  }
}

}  // namespace
}  // namespace shardlings::cli
