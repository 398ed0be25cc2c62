// `view` as a learner uses it. tests/browser looks at the page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(View, NeedsARun) {
  const Learner shardlings;
  const Answer none = shardlings({"view"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "No puzzle has been run yet. First: ./shardlings run\n");
  const Answer named = shardlings({"view", "2"});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, AllOf(StartsWith("02 "), HasSubstr("has not been run yet. First: ./shardlings run 02")));
}

TEST(View, ShowsTheLastRunOfAnyPuzzle) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  shardlings({"run", "02"});
  shardlings({"run", "01"});
  const Answer answer = shardlings({"view"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("01 One training step"), HasSubstr("build/view/01_training_step.html")));
  const std::string page = shardlings.folder().read("build/view/01_training_step.html");
  EXPECT_THAT(page, AllOf(StartsWith("<!doctype html>"), HasSubstr("\"role\":\"goal\""), Not(HasSubstr("{{"))));

  const Answer printed = shardlings({"view", "02", "--out", "-"});
  EXPECT_THAT(printed.out, AllOf(StartsWith("<!doctype html>"), HasSubstr("not_implemented")));
}

TEST(View, ComparesRuns) {
  const Learner shardlings;
  shardlings.blunder(kFirst, "forward_twice");
  shardlings({"run", "01"});
  const Answer alone = shardlings({"view", "--against", "LAST"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("was run only once yet"));
  EXPECT_EQ(shardlings({"view", "--export", "twice.json"}).status, 0);

  shardlings.solve(kFirst);
  shardlings({"run", "01"});
  EXPECT_THAT(shardlings({"view", "--against", "LAST", "--out", "-"}).out, HasSubstr("\"name\":\"The run before\""));
  EXPECT_THAT(shardlings({"view", "--against", "twice.json", "--out", "-"}).out, HasSubstr("\"name\":\"twice.json\""));
  EXPECT_THAT(shardlings({"view", "--run", "twice.json", "--out", "-"}).out, HasSubstr("\"passed\":false"));
}

TEST(View, RefusesWhatItCannotShow) {
  const Learner shardlings;
  shardlings({"run", "01"});
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const Answer answer = shardlings(arguments);
    EXPECT_EQ(answer.status, 2);
    EXPECT_EQ(answer.out, "");
    return answer.err;
  };
  EXPECT_EQ(refusal({"view", "--against", "nowhere.json"}), "There is no file nowhere.json.\n");
  shardlings.folder().write("other.json", "{}");
  EXPECT_THAT(refusal({"view", "--against", "other.json"}), HasSubstr("other.json: this is no run of Shardlings"));
  EXPECT_THAT(refusal({"view", "01", "--against", "puzzles/02_gradient_accumulation/goal.json"}),
              HasSubstr("is a run of 02_gradient_accumulation, not of 01_training_step"));
  EXPECT_THAT(refusal({"view", "01", "--run", "puzzles/02_gradient_accumulation/goal.json"}),
              HasSubstr("is a run of 02_gradient_accumulation"));
  EXPECT_THAT(refusal({"view", "--case", "none"}), HasSubstr("has no case \"none\". It has:"));
  EXPECT_THAT(refusal({"view", "--out", "/nowhere/page.html"}), HasSubstr("/nowhere/page.html"));
}

TEST(View, LeavesADamagedGoalOut) {
  const Learner shardlings;
  shardlings({"run", "01"});
  shardlings.folder().write("puzzles/01_training_step/goal.json", "{");
  const Answer answer = shardlings({"view", "--out", "-"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.err, HasSubstr("The goal is left out."));
  EXPECT_THAT(answer.out, Not(HasSubstr("\"role\":\"goal\"")));
}

TEST(View, DrawsAPicture) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  shardlings({"run", "01"});
  EXPECT_EQ(shardlings({"view", "--svg", "picture.svg"}).status, 0);
  EXPECT_THAT(shardlings.folder().read("picture.svg"),
              AllOf(StartsWith("<svg"), HasSubstr("One training step"), HasSubstr(" peak ")));
  EXPECT_EQ(shardlings({"view", "--svg", "picture.svg", "--no-figures"}).status, 0);
  EXPECT_THAT(shardlings.folder().read("picture.svg"), AllOf(StartsWith("<svg"), Not(HasSubstr(" peak "))));
}

TEST(View, ShowsAFileThatDidNotBuild) {
  const Learner shardlings;
  shardlings.folder().write(Learner::file_of(kFirst), "int x = \"<script>\";\n");
  EXPECT_EQ(shardlings({"run", "01"}).status, 1);
  const Answer answer = shardlings({"view", "--out", "-"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("did_not_build"), HasSubstr("\\u003cscript>")));
}

TEST(View, ExplainsItself) {
  const Learner shardlings;
  const Answer help = shardlings({"view", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--against"), HasSubstr("--export"), HasSubstr("--open"), HasSubstr("--svg")));
}

}  // namespace
}  // namespace shardlings::cli
