// `watch` as a learner has it: in a terminal, with an editor beside it.

#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/learner.h"
#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Watch, GradesOnEverySaveAndGoesOnWhenAsked) {
  const Learner learner;
  Terminal terminal(learner, {"watch"});
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();
  EXPECT_TRUE(terminal.takes_keys());

  terminal.type("n");
  ASSERT_TRUE(terminal.shows("not solved yet")) << terminal.everything();
  terminal.type("h");
  ASSERT_TRUE(terminal.shows("Hint 1 of")) << terminal.everything();
  terminal.type("l");
  ASSERT_TRUE(terminal.shows("Ring all-reduce")) << terminal.everything();

  learner.blunder(kFirst, "never_updated");
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();

  // As editors do it: a new file takes the old one's place.
  const auto& folder = learner.folder();
  folder.write("new.cpp", folder.read("solutions/01_training_step/solution.cpp"));
  std::filesystem::rename(folder / "new.cpp", folder / Learner::file_of(kFirst));
  ASSERT_TRUE(terminal.shows("passed")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("is solved"));
  ASSERT_TRUE(terminal.shows("next puzzle"));

  terminal.type("n");
  ASSERT_TRUE(terminal.shows("02 Gradient accumulation")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_FALSE(terminal.takes_keys()) << "the terminal is as it was before";
}

TEST(Watch, LeavesNothingOutThatFits) {
  const Learner learner;
  learner.blunder(kFirst, "never_updated");
  const auto all = lines_of(learner({"run", "01"}, {"COLUMNS=80"}).out);
  constexpr int kFrame = 5;  // title, keys, two empty lines, and the last row
  Terminal terminal(learner, {"watch", "1"}, {"NO_COLOR=1"}, 80, static_cast<int>(all.size()) + kFrame);
  ASSERT_TRUE(terminal.shows("not yet"));
  ASSERT_TRUE(terminal.shows("quit"));
  for (const std::string& line : all) EXPECT_THAT(terminal.everything(), HasSubstr(line));
}

/// What is wrong must not be left out, however small the screen is: the rest of it comes by scrolling.
TEST(Watch, ShowsAllOfADeadlockOn24Rows) {
  const Learner learner;
  learner.blunder("20_one_f_one_b", "blocking");
  Terminal terminal(learner, {"watch", "20"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("of ")) << "not all fits: " << terminal.everything();
  terminal.type("\x1b[F");
  ASSERT_TRUE(terminal.shows("quit"));
  for (const char* words : {"rank 0", "rank 1", "rank 2", "rank 3", "cycle: rank 2 -> rank 3 -> rank 2", "repeat"}) {
    EXPECT_THAT(terminal.everything(), HasSubstr(words));
  }
}

TEST(Watch, ShowsAllThatTheCompilerSays) {
  const Learner learner;
  std::string wrong = learner.folder().read(Learner::file_of(kFirst));
  for (int i = 0; i < 8; ++i) wrong += "\nint wrong" + std::to_string(i) + " = nothing" + std::to_string(i) + ";\n";
  learner.folder().write(Learner::file_of(kFirst), wrong);
  Terminal terminal(learner, {"watch", "1"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("does not compile")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("nothing0"));
  for (int i = 0; i < 3; ++i) terminal.type(" ");
  ASSERT_TRUE(terminal.shows("nothing7")) << terminal.everything();
}

TEST(Watch, DrawsTheGoalWhereTimeIsTheFailure) {
  const Learner learner;
  learner.blunder("09_data_parallel", "reduced_after_backward");
  Terminal terminal(learner, {"watch", "9"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("Where the time went")) << terminal.everything();
  EXPECT_TRUE(terminal.shows("  goal")) << terminal.everything();
}

TEST(Watch, HasAKeyForEachOtherText) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "1"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("?");
  ASSERT_TRUE(terminal.shows("full report, and back")) << terminal.everything();
  terminal.type("e");
  ASSERT_TRUE(terminal.shows("====")) << terminal.everything();
  terminal.type(" ");
  EXPECT_TRUE(terminal.shows("lines 2")) << terminal.everything();
  terminal.type("\x1b");
  EXPECT_TRUE(terminal.shows("It will be asked for")) << terminal.everything();
  terminal.type("d");
  EXPECT_TRUE(terminal.shows("It will be asked for")) << terminal.everything();
}

TEST(Watch, OpensThePageOfTheRun) {
  const Learner learner;
  learner.blunder(kFirst, "never_updated");
  learner.folder().write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
  std::filesystem::permissions(learner.folder() / "bin/xdg-open", std::filesystem::perms::owner_all);
  const std::string path = path_variable(learner.folder() / "bin");
  Terminal terminal(learner, {"watch", "1"}, {path});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("v");
  ASSERT_TRUE(terminal.shows("Page of 01 One training step")) << terminal.everything();
  EXPECT_THAT(learner.folder().read("opened"), HasSubstr("01_training_step.html"));
}

TEST(Watch, RunsAgainWhenAsked) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "2"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("r");
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("\r");
  EXPECT_TRUE(terminal.shows("building"));
}

TEST(Watch, RestoresTheTerminalWhenInterrupted) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "1"});
  ASSERT_TRUE(terminal.shows("quit"));
  EXPECT_TRUE(terminal.takes_keys());
  terminal.type("\x03");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_FALSE(terminal.takes_keys());
}

TEST(Watch, SaysWhyAFileDoesNotBuild) {
  const Learner learner;
  learner.folder().write(Learner::file_of(kFirst), "this is no C++\n");
  Terminal terminal(learner, {"watch", "1"});
  EXPECT_TRUE(terminal.shows("error")) << terminal.everything();
}

TEST(Watch, HasNoColoursWhereTheyAreNotWanted) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "1"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("q");
  terminal.finish();
  EXPECT_THAT(terminal.everything(), Not(HasSubstr("\x1b[1m")));
  EXPECT_THAT(terminal.everything(), Not(HasSubstr("\x1b[3")));
}

}  // namespace
}  // namespace shardlings::cli
