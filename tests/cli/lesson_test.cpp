// What verify demands of a lesson's two parts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/author/verification.h"
#include "cli/folder.h"

namespace shardlings::cli {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::IsEmpty;

constexpr const char* kFirstPart =
    "# 01 A\n\n## What you are given\n## Targets\n## Predict\n## The goal\n![A](goal.svg)\n## What to implement\n"
    "## What is checked\n";
constexpr const char* kSecondPart =
    "# 01 A: after the pass\n## What it costs\n## Common mistakes\n## In production\n## At scale\n"
    "## Questions and answers\n## Further reading\n";

/// A puzzle of which nothing but the lesson is of interest here.
class LessonRules : public testing::Test {
 protected:
  LessonRules() {
    folder_.write("puzzles/01_a/README.md", kFirstPart);
    folder_.write("puzzles/01_a/after.md", kSecondPart);
  }
  /// What is wrong with the lesson.
  std::vector<std::string> problems() const {
    std::vector<std::string> found = author::static_problems(project_, puzzle_);
    std::erase_if(found, [](const std::string& problem) {
      return problem.find("lesson") == std::string::npos && problem.find("after.md") == std::string::npos;
    });
    return found;
  }

  TemporaryFolder folder_;
  system::Project project_{folder_.path(), folder_ / "build"};
  cases::Manifest puzzle_ = small_puzzle(1, "a", "A");
};

TEST_F(LessonRules, AQuestionHasNoGoal) {
  puzzle_.question = true;
  EXPECT_THAT(problems(),
              Contains("the lesson shows a goal, and puzzle.toml says question = true: there is nothing to draw"s));
  const std::string goal = "## The goal\n![A](goal.svg)\n";
  std::string lesson = kFirstPart;
  lesson.erase(lesson.find(goal), goal.size());
  folder_.write("puzzles/01_a/README.md", lesson);
  EXPECT_THAT(problems(), IsEmpty());
  puzzle_.question = false;
  EXPECT_THAT(problems(), Contains("the lesson has no section \"## The goal\""s));
}

TEST_F(LessonRules, TheLessonHasItsSectionsInTheirOrder) {
  const std::string lesson = kFirstPart, targets = "## Targets\n";
  const auto with = [&](const std::string& text) {
    folder_.write("puzzles/01_a/README.md", text);
    return problems();
  };
  EXPECT_THAT(with(lesson.substr(0, lesson.find("## What is checked"))),
              testing::ElementsAre("the lesson has no section \"## What is checked\""));
  EXPECT_THAT(with(lesson + "## Predict\n"), IsEmpty()) << "a second one is no matter";
  std::string swapped = lesson;
  swapped.erase(swapped.find(targets), targets.size());
  EXPECT_THAT(with(swapped + targets), Contains("the lesson has in another order: \"## Predict\""));
}

TEST_F(LessonRules, ThePictureOfTheGoalStandsBehindWhatItAnswers) {
  std::string lesson = kFirstPart;
  const std::string picture = "![A](goal.svg)\n", predict = "## Predict\n";
  lesson.erase(lesson.find(picture), picture.size());
  lesson.insert(lesson.find(predict), picture);
  folder_.write("puzzles/01_a/README.md", lesson);
  EXPECT_THAT(problems(), testing::ElementsAre("the lesson shows its goal under \"## Targets\", and not under "
                                               "\"## The goal\": it answers what \"## Predict\" asks"));
}

TEST_F(LessonRules, WhatGivesTheAnswerAwayIsShownAfterThePass) {
  folder_.write("puzzles/01_a/README.md", kFirstPart + "## Common mistakes\n"s);
  EXPECT_THAT(problems(), testing::ElementsAre(
                              "the lesson has \"## Common mistakes\", which is for those who have passed: after.md"));
}

TEST_F(LessonRules, TheSecondPartOfALessonHasItsSectionsInTheirOrder) {
  const std::string after = kSecondPart, costs = "## What it costs\n";
  const auto with = [&](const std::string& text) {
    folder_.write("puzzles/01_a/after.md", text);
    return problems();
  };
  EXPECT_THAT(with(""), testing::ElementsAre("there is no second part of the lesson, after.md"));
  EXPECT_THAT(with(after.substr(0, after.find("## Further"))),
              testing::ElementsAre("after.md has no section \"## Further reading\""));
  std::string swapped = after;
  swapped.erase(swapped.find(costs), costs.size());
  EXPECT_THAT(with(swapped + costs), Contains("after.md has in another order: \"## Common mistakes\""));
  EXPECT_THAT(with("# 02" + after.substr(4)),
              testing::ElementsAre("after.md does not begin with \"# 01 A: after the pass\""));
}

}  // namespace
}  // namespace shardlings::cli
