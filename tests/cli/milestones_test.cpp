// Milestones and a bonus, with the puzzles that have them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLarge = "33_three_d_parallel";
constexpr const char* kWithBonus = "04_checkpoint_budget";

json listed(const Learner& shardlings, const char* id) {
  const json list = json::parse(shardlings({"list", "--json"}).out);
  for (const json& puzzle : list["puzzles"]) {
    if (puzzle["id"] == id) return puzzle;
  }
  return {};
}

TEST(Milestones, AreJudgedAloneByAFileThatCanDoNoMore) {
  const Learner shardlings;
  shardlings.blunder(kLarge, "neither_table_nor_norm");
  const Answer first = shardlings({"run", "33a"});
  EXPECT_EQ(first.status, 0) << first.out;
  EXPECT_THAT(first.out, AllOf(HasSubstr("33a Pipelines and replicas is done."), HasSubstr("./shardlings run 33b"),
                               Not(HasSubstr("of 100 points"))));
  EXPECT_EQ(shardlings({"run", "33b"}).status, 1);
  EXPECT_THAT(shardlings({"list", "--all"}).out,
              HasSubstr("33a Pipelines and replicas \xE2\x9C\x93, 33b Table and norm"));
  const json puzzle = listed(shardlings, kLarge);
  EXPECT_EQ(puzzle["solved"], false);
  EXPECT_EQ(puzzle["points"], 0) << "points are for the whole";
  EXPECT_EQ(puzzle["milestones"][0]["passed"], true);
  EXPECT_EQ(puzzle["milestones"][1]["passed"], false);
}

TEST(Milestones, Of17AreItsHalvesInEitherOrder) {
  constexpr const char* kHalves = "17_tensor_parallel_attention";
  const Learner shardlings;
  shardlings.blunder(kHalves, "attention_only");
  EXPECT_EQ(shardlings({"run", "17a"}).status, 0) << "the vocabulary is not called";
  EXPECT_EQ(shardlings({"run", "17b"}).status, 1);
  shardlings.blunder(kHalves, "bias_gradient_reduced");
  EXPECT_EQ(shardlings({"run", "17b"}).status, 0) << "attention is not called";
  const Answer wrong = shardlings({"run", "17a"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, HasSubstr("The gradient of proj.bias is t times too large"));
  const json puzzle = listed(shardlings, kHalves);
  EXPECT_EQ(puzzle["milestones"][0]["passed"], true);
  EXPECT_EQ(puzzle["milestones"][1]["passed"], true);
  EXPECT_EQ(puzzle["solved"], false);
}

TEST(Milestones, TheLastOneIsTheWholePuzzle) {
  const Learner shardlings;
  shardlings.solve(kLarge);
  EXPECT_EQ(shardlings({"run", "33c"}).status, 0);
  const json puzzle = listed(shardlings, kLarge);
  EXPECT_EQ(puzzle["solved"], true);
  EXPECT_EQ(puzzle["points"], 100);
  for (const json& milestone : puzzle["milestones"]) EXPECT_EQ(milestone["passed"], true);
  EXPECT_THAT(shardlings({"list", "--all"}).out, Not(HasSubstr("33a"))) << "what is solved needs no steps";
}

TEST(Milestones, ThatAPuzzleDoesNotHaveAreRefused) {
  const Learner shardlings;
  const Answer answer = shardlings({"run", "33d"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, HasSubstr("33a, 33b, 33c"));
  EXPECT_EQ(shardlings({"run", "09a"}).status, 2);
}

TEST(Bonus, IsNotNeededForThePass) {
  const Learner shardlings;
  shardlings.blunder(kWithBonus, "cheapest_byte_first");
  const Answer passed = shardlings({"run", "04"});
  EXPECT_EQ(passed.status, 0) << passed.out;
  EXPECT_THAT(passed.out, AllOf(HasSubstr("is solved: 100 of 100 points."), HasSubstr("for 25 points more")));
  EXPECT_EQ(listed(shardlings, kWithBonus)["points"], 100);
  shardlings.solve(kWithBonus);
  EXPECT_THAT(shardlings({"run", "04"}).out, AllOf(HasSubstr("125 of 100"), Not(HasSubstr("points more"))));
  EXPECT_EQ(listed(shardlings, kWithBonus)["points"], 125);
}

}  // namespace
}  // namespace shardlings::cli
