#include "cli/learner/course.h"
#include "base/machine_fault.h"
#include "base/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/error.h"
#include "cli/folder.h"

namespace shardlings::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

learner::Course course() {
  return learner::Course({small_puzzle(1, "training_step", "One training step"),
                          small_puzzle(2, "gradient_accumulation", "Gradient accumulation"),
                          small_puzzle(9, "data_parallel", "Data parallel"),
                          small_puzzle(10, "overlap_buckets", "Overlap")});
}

learner::Progress solved(const std::vector<std::string>& ids) {
  learner::Progress progress;
  for (const std::string& id : ids) progress.puzzles[id].solved_hash = "1";
  return progress;
}

std::string refusal(const std::string& name) {
  const learner::Course puzzles = course();
  try {
    puzzles.find(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "found";
}

class NamesOfAPuzzle : public testing::TestWithParam<const char*> {};

TEST_P(NamesOfAPuzzle, FindIt) {
  const learner::Course puzzles = course();
  EXPECT_EQ(puzzles.find(GetParam()).id, "09_data_parallel");
}

INSTANTIATE_TEST_SUITE_P(Course, NamesOfAPuzzle,
                         testing::Values("9", "09", "009", "09_data_parallel", "data_parallel", "Data Parallel",
                                         "data-par", "parallel", "puzzles/09_data_parallel",
                                         "./puzzles/09_data_parallel/puzzle.cpp"));

TEST(Course, ANumberIsNotAPartOfAName) {
  EXPECT_THAT(refusal("0"), HasSubstr("There is no puzzle \"0\""));
}

TEST(Course, ALetterNamesAMilestone) {
  cases::Manifest large = small_puzzle(33, "three_d", "Three");
  large.milestones = {{"a", "Groups", {"small"}}, {"b", "All", {}}};
  const learner::Course puzzles({small_puzzle(9, "data_parallel", "Data parallel"), large});
  EXPECT_EQ(puzzles.find("33a").id, "33_three_d");
  EXPECT_EQ(learner::milestone_named(puzzles.find("33a"), "33a")->title, "Groups");
  EXPECT_EQ(learner::milestone_named(puzzles.find("33"), "33"), nullptr);
  EXPECT_EQ(learner::milestone_named(puzzles.find("09"), "33a"), nullptr);
  const auto refused = [&](const char* name) {
    try {
      puzzles.find(name);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("found");
  };
  EXPECT_EQ(refused("33c"), "Puzzle 33_three_d has the milestones 33a, 33b, and no 33c.");
  EXPECT_EQ(refused("09a"), "Puzzle 09_data_parallel has no milestones: ./shardlings run 09");
}

TEST(Course, NearNamesAreOffered) {
  EXPECT_THAT(refusal("data_paralel"), HasSubstr("Did you mean data_parallel"));
  EXPECT_THAT(refusal("zzz"), testing::Not(HasSubstr("Did you mean")));
  EXPECT_THAT(refusal("zzz"), HasSubstr("./shardlings list"));
}

TEST(Course, APartThatSeveralHaveIsRefusedWithTheirNames) {
  EXPECT_THAT(refusal("la"), HasSubstr("02_gradient_accumulation or 10_overlap_buckets"));
}

TEST(Course, KnowsTheNamesOfFaultyPuzzlesToo) {
  const learner::Course puzzles(
      {small_puzzle(1, "training_step", "One training step"), small_puzzle(3, "data", "Data")},
      {{"02_data_parallel", 2, "puzzles/02_data_parallel/puzzle.toml:3: no"}});
  EXPECT_EQ(puzzles.find("3").id, "03_data");
  EXPECT_THAT([&] { puzzles.find("02"); }, testing::ThrowsMessage<MachineFault>(HasSubstr("puzzle.toml:3: no")));
  EXPECT_THAT([&] { puzzles.find("para"); },
              testing::ThrowsMessage<MachineFault>(HasSubstr("02_data_parallel is faulty")));
  EXPECT_THAT([&] { puzzles.find("dat"); }, testing::ThrowsMessage<UsageError>(HasSubstr("could be")));
  EXPECT_EQ(puzzles.next(solved({"01_training_step"}))->id, "03_data");
}

TEST(Course, NextIsTheFirstThatIsNotSolved) {
  const learner::Course puzzles = course();
  EXPECT_EQ(puzzles.next({})->id, "01_training_step");
  EXPECT_EQ(puzzles.next(solved({"01_training_step", "09_data_parallel"}))->id, "02_gradient_accumulation");
  EXPECT_EQ(puzzles.next_after("02_gradient_accumulation", solved({"09_data_parallel"}))->id, "10_overlap_buckets");
  EXPECT_EQ(puzzles.next_after("10_overlap_buckets", solved({"01_training_step"}))->id, "02_gradient_accumulation");
}

TEST(Course, WithEverythingSolvedThereIsNoNext) {
  const learner::Course puzzles = course();
  const learner::Progress all =
      solved({"01_training_step", "02_gradient_accumulation", "09_data_parallel", "10_overlap_buckets"});
  EXPECT_EQ(puzzles.next(all), nullptr);
  EXPECT_EQ(learner::named_or_next(puzzles, "", all).id, "10_overlap_buckets");
}

TEST(NearNames, AreSortedByDistance) {
  EXPECT_THAT(near_names("lis", {"run", "list", "lists", "verify"}), ElementsAre("list"));
  EXPECT_THAT(near_names("hnit", {"run", "hint"}), ElementsAre("hint")) << "neighbours in the wrong order";
}

}  // namespace
}  // namespace shardlings::cli
