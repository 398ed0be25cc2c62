#include "cli/learner/ladder.h"

#include <gtest/gtest.h>

#include "cli/folder.h"

namespace shardlings::cli {
namespace {

std::string next_text(const cases::Manifest& puzzle, learner::PuzzleProgress& progress) {
  const learner::Rung rung = learner::next_rung(puzzle, progress);
  if (!rung.hint) return "";
  learner::give(progress, *rung.hint);
  return rung.hint->text;
}

TEST(Ladder, GoesUpOneRungAtATime) {
  const auto puzzle = small_puzzle(1, "a", "A");
  learner::PuzzleProgress progress;
  EXPECT_EQ(next_text(puzzle, progress), "think");
  EXPECT_EQ(next_text(puzzle, progress), "look");
  EXPECT_EQ(next_text(puzzle, progress), "always true");
  EXPECT_EQ(next_text(puzzle, progress), "nearly it");
  EXPECT_EQ(next_text(puzzle, progress), "") << "hints on mistakes that were not made are not given";
}

TEST(Ladder, SpeaksToTheLastMistakeFirst) {
  const auto puzzle = small_puzzle(1, "a", "A");
  learner::PuzzleProgress progress;
  progress.diagnoses = {{"unknown_one", "?"}, {"mixed_up", "Two things were mixed up."}};
  const learner::Rung rung = learner::next_rung(puzzle, progress);
  ASSERT_TRUE(rung.hint);
  EXPECT_EQ(rung.hint->text, "the second line");
  EXPECT_EQ(rung.diagnosis, "mixed_up");
  EXPECT_EQ(rung.diagnosis_text, "Two things were mixed up.");
  learner::give(progress, *rung.hint);
  EXPECT_EQ(next_text(puzzle, progress), "think") << "the same hint does not come twice";
}

TEST(Ladder, MistakesThatEveryPuzzleKnowsHaveHintsToo) {
  const cases::Manifest puzzle = small_puzzle(1, "a", "A");
  learner::PuzzleProgress progress;
  progress.diagnoses = {{"not_implemented", "The hole is still there."}, {"race", "Used too early."}};
  const learner::Rung rung = learner::next_rung(puzzle, progress);
  EXPECT_EQ(rung.diagnosis, "race") << "who has not begun needs the ladder";
  ASSERT_NE(rung.hint, nullptr);
  learner::give(progress, *rung.hint);
  EXPECT_EQ(learner::next_rung(puzzle, progress).diagnosis, "");
}

TEST(Ladder, CountsWhatWasGiven) {
  const auto puzzle = small_puzzle(1, "a", "A");
  learner::PuzzleProgress progress;
  next_text(puzzle, progress);
  const learner::Rung rung = learner::next_rung(puzzle, progress);
  EXPECT_EQ(rung.given, 2);
  EXPECT_EQ(rung.total, 4);
}

TEST(Ladder, AHintThatTheAuthorAddsDoesNotMoveTheOthers) {
  auto puzzle = small_puzzle(1, "a", "A");
  learner::PuzzleProgress progress;
  next_text(puzzle, progress);
  puzzle.hints.insert(puzzle.hints.begin(), {cases::HintLevel::concept_, "new"});
  EXPECT_EQ(next_text(puzzle, progress), "new");
  EXPECT_EQ(next_text(puzzle, progress), "look");
}

}  // namespace
}  // namespace shardlings::cli
