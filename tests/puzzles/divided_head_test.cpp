// A head over a divided vocabulary, by hand and by differences, and with every mistake that it knows.
#include "grading/divided_head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grading/data.h"

namespace shardlings::grading {
namespace {

constexpr Count kWidth = 3, kVocabulary = 7, kTokens = 4;
const std::vector<std::int32_t> kTargets = {6, 0, 3, 3};

std::vector<double> numbers(int which, Count n) {
  const std::vector<float> normals = normals_of(Case{}, which, n);
  return {normals.begin(), normals.end()};
}

DividedHead head_on(int ranks, const std::vector<double>& weight) {
  return {numbers(0, kTokens * kWidth), weight, kTargets, kWidth, ranks};
}

DividedHead head_on(int ranks) {
  return head_on(ranks, numbers(1, kVocabulary * kWidth));
}

TEST(DividedHead, OneTokenOfTwoIsLogOfOnePlusExp) {
  const DividedHead head({1}, {2, 5}, {0}, 1, 2);
  EXPECT_NEAR(head.loss({"right"}, 0), std::log(1 + std::exp(3.0)), 1e-12);
}

TEST(DividedHead, TheRightLossDependsOnNoDivisionAndNoRank) {
  const double whole = head_on(1).loss({"right"}, 0);
  for (int ranks = 2; ranks <= 7; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) EXPECT_NEAR(head_on(ranks).loss({"right"}, rank), whole, 1e-12);
  }
}

TEST(DividedHead, EveryMistakeShows) {
  const HeadMistake mistakes[] = {{.diagnosis = "top", .own_top = true},
                                  {.diagnosis = "sum", .own_sum = true},
                                  {.diagnosis = "hit", .own_hit = true},
                                  {.diagnosis = "ids", .unshifted = true},
                                  {.diagnosis = "factor", .sum_factor = 3}};
  const double right = head_on(3).loss({"right"}, 0);
  for (const HeadMistake& mistake : mistakes) {
    EXPECT_GT(std::abs(head_on(3).loss(mistake, 0) - right), 1e-2) << mistake.diagnosis;
    if (!mistake.unshifted && mistake.sum_factor == 1) {
      EXPECT_NEAR(head_on(1).loss(mistake, 0), head_on(1).loss({"right"}, 0), 1e-12) << "alone, nobody is forgotten";
    }
  }
  EXPECT_NEAR(head_on(3).loss({.diagnosis = "factor", .sum_factor = 3}, 0), right + std::log(3.0), 1e-12);
}

TEST(DividedHead, TheGradientIsThatOfTheLoss) {
  constexpr double kStep = 1e-6;
  const std::vector<double> gradient = head_on(3).weight_gradient(1, true);
  std::vector<double> weight = numbers(1, kVocabulary * kWidth);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double before = weight[i];
    weight[i] = before + kStep;
    const double above = head_on(3, weight).loss({"right"}, 0);
    weight[i] = before - kStep;
    EXPECT_NEAR(gradient[i], (above - head_on(3, weight).loss({"right"}, 0)) / (2 * kStep), 1e-8);
    weight[i] = before;
  }
}

}  // namespace
}  // namespace shardlings::grading
