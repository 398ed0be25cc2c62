// ./shardlings train --puzzle NN: the steps of earlier puzzles train, too, and all of them make the same training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "train/command.h"

namespace shardlings::train {
namespace {

using testing::HasSubstr;

/// A puzzle's solution, as the learner's file.
class Solver : public Learner {
 public:
  explicit Solver(const std::string& puzzle)
      : Learner(puzzle, read_file(std::string(kSource) + "/solutions/" + puzzle + "/solution.cpp").value()) {}
};

/// A limit that no gradient reaches: of these steps some shorten the gradient and some do not.
const std::vector<std::string> kNoLimit = {"--clip", "1e9", "--json"};

std::vector<double> losses(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), kNoLimit.begin(), kNoLimit.end());
  const Outcome outcome = run(folder, arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  return outcome.status == 0 ? nlohmann::json::parse(outcome.out)["losses"].get<std::vector<double>>()
                             : std::vector<double>();
}

/// Six steps of six sequences each, by one rank that the learner's step of puzzle 02 is right for.
const std::vector<double>& by_one_rank() {
  static const std::vector<double> kLosses = [] {
    const Folder folder;
    const Solver solver("02_gradient_accumulation");
    return losses(folder, {"--puzzle", "02", "--batch", "6", "--micro-batches", "3", "--steps", "6"});
  }();
  return kLosses;
}

void expect_same(const std::vector<double>& found, const std::vector<double>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(found[i], right[i], 1e-3 * right[i]) << "step " << i + 1;
}

class StepOf : public testing::TestWithParam<const char*> {};

// Three replicas divide no layer evenly.
TEST_P(StepOf, TrainsAsOneRank) {
  ASSERT_EQ(by_one_rank().size(), 6U);
  EXPECT_LT(by_one_rank().back(), by_one_rank().front()) << "it learns";
  const Folder folder;
  const Solver solver(GetParam());
  expect_same(
      losses(folder, {"--puzzle", std::string(GetParam()).substr(0, 2), "--batch", "6", "--dp", "3", "--steps", "6"}),
      by_one_rank());
}

INSTANTIATE_TEST_SUITE_P(Replicas, StepOf,
                         testing::Values("09_data_parallel", "11_zero1", "12_zero2", "13_zero3_fsdp"));

TEST(TrainWithPuzzle, GoesOnWhereAnotherPuzzlesStepHasStopped) {
  const Folder folder;
  {
    const Solver solver("13_zero3_fsdp");
    ASSERT_EQ(losses(folder, {"--puzzle", "13", "--batch", "6", "--dp", "2", "--steps", "3"}).size(), 3U);
  }
  const Solver solver("09_data_parallel");
  const std::vector<double> rest = losses(folder, {"--puzzle", "09", "--batch", "6", "--dp", "3", "--steps", "6"});
  expect_same(rest, {by_one_rank().begin() + 3, by_one_rank().end()});
}

TEST(TrainWithPuzzle, GoesOnWithTheMomentsOfAllParts) {
  const Folder folder;
  const Solver solver("13_zero3_fsdp");
  const std::vector<std::string> step = {"--puzzle", "13", "--batch", "6", "--dp", "3", "--steps"};
  const auto until = [&](const char* steps) {
    std::vector<std::string> arguments = step;
    arguments.emplace_back(steps);
    return losses(folder, arguments);
  };
  ASSERT_EQ(until("2").size(), 2U);
  expect_same(until("6"), {by_one_rank().begin() + 2, by_one_rank().end()});
}

TEST(TrainWithPuzzle, SaysWhatAStepCannotDo) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(folder, arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err + outcome.out;
  };
  EXPECT_THAT(refused({"--puzzle", "20"}), HasSubstr("Those of 02, 09, 11, 12, 13 and 33 are."));
  EXPECT_THAT(refused({"--puzzle", "no_such"}), HasSubstr("no_such"));
  EXPECT_THAT(refused({"--puzzle", "02", "--dp", "2"}), HasSubstr("The step of puzzle 02 is for one rank"));
  EXPECT_THAT(refused({"--puzzle", "09", "--micro-batches", "2"}), HasSubstr("takes one micro-batch"));
  EXPECT_THAT(refused({"--puzzle", "12", "--tp", "2"}), HasSubstr("knows replicas only"));
  EXPECT_THAT(refused({"--puzzle", "12", "--recompute"}), HasSubstr("calls the layers itself"));
  EXPECT_THAT(refused({"--puzzle", "12", "--zero", "3"}), HasSubstr("choose a puzzle"));
}

}  // namespace
}  // namespace shardlings::train
