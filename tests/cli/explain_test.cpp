// `./shardlings explain` before and after the pass, and what a pass says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/learner.h"
#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Explain, ExplainsEveryPuzzleWithinTheWidth) {
  const Learner shardlings;
  const Answer answer = shardlings({"explain", "01"}, {"COLUMNS=70"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("01 One training step\n===="), Not(HasSubstr("**")), Not(HasSubstr("```"))));
}

TEST(Explain, ShowsTheMapAsLesson00) {
  const Learner shardlings;
  EXPECT_THAT(shardlings({}).out, HasSubstr("./shardlings explain 00"));
  const Answer missing = shardlings({"explain", "00"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("docs/map.md"));
  shardlings.folder().write("docs/map.md", "# Lesson 00: the map\n\nWhat is **divided**.\n");
  EXPECT_EQ(shardlings({"explain", "00"}).out, "Lesson 00: the map\n==================\n\nWhat is divided.\n");
}

TEST(Explain, KeepsToAsciiWhereThereIsNothingElse) {
  const Learner shardlings;
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
  };
  for (const auto& folder : std::filesystem::directory_iterator(shardlings.folder() / "puzzles")) {
    const std::string id = folder.path().filename().string();
    const std::string text = shardlings({"explain", "--all", id}, {"LANG=C"}).out;
    EXPECT_TRUE(is_ascii(text)) << id;
    EXPECT_FALSE(text.empty()) << id;
    EXPECT_EQ(text, shardlings({"--ascii", "explain", "--all", id}).out);
    EXPECT_TRUE(is_ascii(shardlings({"--ascii", "hint", id}).out)) << id;
  }
  EXPECT_TRUE(is_ascii(shardlings({"--ascii", "list", "--all"}, {"COLUMNS=40"}).out));
  EXPECT_TRUE(is_ascii(shardlings({"--ascii", "memory", "--model", "gpt2"}).out));
}

TEST(Explain, GoesThroughThePagerOfTheLearner) {
  const Learner shardlings;
  Terminal terminal(shardlings, {"explain", "01"}, {"PAGER=sed s/^/paged:/", "NO_COLOR=1"});
  EXPECT_TRUE(terminal.shows("paged:01 One training step")) << terminal.everything();
  EXPECT_EQ(terminal.finish(), 0);
  Terminal without(shardlings, {"explain", "01"}, {"PAGER=cat", "NO_COLOR=1"});
  EXPECT_TRUE(without.shows("01 One training step"));
  EXPECT_EQ(without.finish(), 0);
}

TEST(Pass, SaysWhatOverlappingHasGained) {
  const Learner shardlings;
  shardlings.solve("09_data_parallel");
  EXPECT_THAT(shardlings({"run", "09"}).out,
              HasSubstr("Case \"4 ranks\": 13.69 ms; 17.95 ms if the slowest rank had waited for all transfer that"));
  shardlings.solve(kFirst);
  EXPECT_THAT(shardlings({"run", "01"}).out, Not(HasSubstr("had waited for all transfer")))
      << "there was nothing to hide";
}

TEST(Explain, ShowsWhatGivesTheAnswerAwayAfterThePass) {
  const Learner shardlings;
  shardlings.folder().write("puzzles/01_training_step/after.md",
                            "# 01 One training step: after the pass\n\nBecause.\n");
  const std::string pointer = "./shardlings explain 01 --after";
  EXPECT_THAT(shardlings({"explain", "01"}).out, AllOf(Not(HasSubstr("Because.")), HasSubstr("or with --all.\n")));
  const Answer early = shardlings({"explain", "01", "--after"});
  EXPECT_EQ(early.status, 1);
  EXPECT_EQ(early.out, "");
  EXPECT_THAT(early.err, HasSubstr("./shardlings explain 01 --all"));
  EXPECT_THAT(shardlings({"explain", "--all", "01"}).out,
              AllOf(HasSubstr("What you are given"), HasSubstr("01 One training step: after the pass\n===="),
                    HasSubstr("Because."), Not(HasSubstr("or with --all"))));

  shardlings.solve(kFirst);
  EXPECT_THAT(shardlings({"run", "01"}).out, HasSubstr(pointer));
  EXPECT_THAT(shardlings({"explain", "01"}).out, AllOf(HasSubstr("What you are given"), HasSubstr("Because.")));
  EXPECT_THAT(shardlings({"explain", "01", "--after"}).out,
              AllOf(HasSubstr("Because."), Not(HasSubstr("What you are given"))));

  std::filesystem::remove(shardlings.folder() / "puzzles/01_training_step/after.md");
  EXPECT_EQ(shardlings({"explain", "01", "--after"}).status, 2);
  EXPECT_THAT(shardlings({"run", "01"}).out, Not(HasSubstr(pointer)));
}

}  // namespace
}  // namespace shardlings::cli
