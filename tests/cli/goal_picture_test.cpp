// The goals that are committed, of all puzzles there are.
#include "cli/learner/goal_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/file.h"
#include "cli/folder.h"
#include "cli/learner/course.h"
#include "grading/verdict/run_file.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const system::Project kRepository{SHARDLINGS_SOURCE, ""};

TEST(Goals, HaveUpToDatePicturesThatTheLessonsShow) {
  const learner::Course course = learner::load_course(kRepository);
  for (const cases::Manifest& puzzle : course.puzzles()) {
    const auto goal = read_file(kRepository.goal_file(puzzle.id));
    if (puzzle.question) {
      EXPECT_FALSE(goal) << puzzle.id << ": of a question there is nothing to draw";
      continue;
    }
    ASSERT_TRUE(goal) << puzzle.id << ": ./shardlings verify --goals " << puzzle.id;
    EXPECT_EQ(learner::goal_picture(puzzle, grading::verdict::run_from_text(*goal, kRepository.clusters())),
              read_file(kRepository.goal_picture_file(puzzle.id)).value_or(""))
        << puzzle.id << "/goal.svg is out of date: .ci/pictures draws it anew";
    EXPECT_THAT(read_file(kRepository.goal_picture_file(puzzle.id)).value_or(""), Not(HasSubstr(" peak ")))
        << puzzle.id << ": predict asks";
    const auto lesson = read_file(kRepository.puzzle_folder(puzzle.id) + "/README.md");
    EXPECT_THAT(lesson.value_or(""), HasSubstr(learner::kGoalAddress)) << puzzle.id;
  }
}

TEST(Goals, AreDrawnInTheTerminalsLesson) {
  std::ostringstream out;
  const Context context{.project = kRepository, .out = out, .err = out};
  const learner::Course course = learner::load_course(kRepository);
  for (const cases::Manifest& puzzle : course.puzzles()) {
    if (puzzle.question) continue;
    const std::string lesson = learner::with_goal(context, puzzle, "before\n\n![a picture](goal.svg)\n\nafter\n", true);
    EXPECT_THAT(lesson, HasSubstr("before\n\n```\nThe goal: ")) << puzzle.id;
    EXPECT_THAT(lesson, HasSubstr("rank 0"));
    EXPECT_THAT(lesson, HasSubstr("```\n\nafter\n"));
    EXPECT_THAT(lesson, Not(HasSubstr("a picture")));
    EXPECT_THAT(lesson, HasSubstr(" peak ")) << puzzle.id;
    const std::string before = learner::with_goal(context, puzzle, "![a picture](goal.svg)\n", false);
    EXPECT_THAT(before, AllOf(HasSubstr("The goal: "), Not(HasSubstr(" peak ")))) << puzzle.id << ": predict asks";
  }
}

TEST(Goals, ThatCannotBeReadLeaveTheLessonAsItWas) {
  const TemporaryFolder folder;
  std::ostringstream out;
  const Context context{.project = system::Project{folder.path(), ""}, .out = out, .err = out};
  cases::Manifest puzzle;
  puzzle.id = "01_a";
  const std::string lesson = "![a picture](goal.svg)\n";
  EXPECT_EQ(learner::with_goal(context, puzzle, lesson, true), lesson);
  folder.write("puzzles/01_a/goal.json", "{");
  EXPECT_EQ(learner::with_goal(context, puzzle, lesson, true), lesson);
}

}  // namespace
}  // namespace shardlings::cli
