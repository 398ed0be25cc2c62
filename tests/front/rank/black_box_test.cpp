// What the black box has of a rank: the last call of the learner's code, and where in its harness the rank is.
#include <gtest/gtest.h>

#include <string>

#include "api/harness_calls.h"
#include "front/misuse/black_box.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings {
namespace {

using front::BlackBoxEntry;
using front::RunPart;

/// Looks into the box while rank 0 is running.
class BlackBoxTest : public testing::Test {
 protected:
  template <class Body>
  void run(Body body) {
    front::BlackBox box{&entry_, 1};
    world::Options options;
    options.black_box = &box;
    const front::RunReport report = world::run(options, body);
    EXPECT_FALSE(report.failure) << report.failure->message;
  }
  RunPart part() const { return static_cast<RunPart>(entry_.part); }
  std::string verb() const { return entry_.verb; }

  BlackBoxEntry entry_;
};

TEST_F(BlackBoxTest, CallsOfAHarnessAreNotTheLearners) {
  run([&](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, {"puzzles/a/harness.cpp", 34});
    EXPECT_EQ(verb(), "");
    EXPECT_TRUE(entry_.in_harness);
    fill(x, 1, {"mine/puzzle.cpp", 31});
    EXPECT_EQ(verb(), "fill");
    EXPECT_FALSE(entry_.in_harness);
    scale(x, 2, {"puzzles/a/plan.h", 36});
    EXPECT_EQ(verb(), "fill") << "the learner's last call";
    EXPECT_EQ(std::string(entry_.file), "puzzle.cpp");
    EXPECT_EQ(entry_.line, 31);
    EXPECT_TRUE(entry_.in_harness);
  });
}

// A report is taken in any case: that is no part of the run.
TEST_F(BlackBoxTest, ARunThatWasNotEndedIsNotBehind) {
  run([&](Rank& rank) { detail::harness::begin_measuring(rank); });
  EXPECT_EQ(part(), RunPart::measured);
}

TEST_F(BlackBoxTest, TellsWhichPartOfTheRunItIs) {
  run([&](Rank& rank) {
    EXPECT_EQ(part(), RunPart::before);
    const Tensor x = rank.zeros(4, Kind::other, DType::f32, {"mine/puzzle.cpp", 31});
    detail::harness::begin_measuring(rank);
    EXPECT_EQ(part(), RunPart::measured);
    EXPECT_EQ(verb(), "") << "what came before";
    detail::harness::end_measuring(rank);
    EXPECT_EQ(part(), RunPart::behind);
  });
}

}  // namespace
}  // namespace shardlings
