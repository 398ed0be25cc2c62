// A head over a divided vocabulary, by hand and by differences, and with every mistake that it knows.
#include "grading/formulas/divided_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "case/data.h"

namespace shardlings::grading {
namespace {

constexpr Count kWidth = 3, kVocabulary = 7, kTokens = 4;
const std::vector<std::int32_t> kTargets = {6, 0, 3, 3};

std::vector<double> numbers(int which, Count n) {
  const std::vector<float> normals = cases::normals_of(cases::Case{}, which, n);
  return {normals.begin(), normals.end()};
}

formulas::DividedHead head_on(int ranks, const std::vector<double>& weight) {
  return {numbers(0, kTokens * kWidth), weight, kTargets, kWidth, ranks};
}

formulas::DividedHead head_on(int ranks) {
  return head_on(ranks, numbers(1, kVocabulary * kWidth));
}

TEST(DividedHead, OneTokenOfTwoIsLogOfOnePlusExp) {
  const formulas::DividedHead head({1}, {2, 5}, {0}, 1, 2);
  EXPECT_NEAR(head.loss({"right"}, 0), std::log(1 + std::exp(3.0)), 1e-12);
}

TEST(DividedHead, TheRightLossDependsOnNoDivisionAndNoRank) {
  const double whole = head_on(1).loss({"right"}, 0);
  for (int ranks = 2; ranks <= 7; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) EXPECT_NEAR(head_on(ranks).loss({"right"}, rank), whole, 1e-12);
  }
}

TEST(DividedHead, EveryMistakeShows) {
  const formulas::HeadMistake mistakes[] = {
      {.diagnosis = "top", .own_top = true},   {.diagnosis = "sum", .own_sum = true},
      {.diagnosis = "hit", .own_hit = true},   {.diagnosis = "ids", .begin = formulas::TakenBegin::none},
      {.diagnosis = "late", .late_hit = true}, {.diagnosis = "factor", .sum_factor = 3}};
  const double right = head_on(3).loss({"right"}, 0);
  for (const formulas::HeadMistake& mistake : mistakes) {
    EXPECT_GT(std::abs(head_on(3).loss(mistake, 0) - right), 1e-2) << mistake.diagnosis;
    if (mistake.begin == formulas::TakenBegin::right && !mistake.late_hit && mistake.sum_factor == 1) {
      EXPECT_NEAR(head_on(1).loss(mistake, 0), head_on(1).loss({"right"}, 0), 1e-12) << "alone, nobody is forgotten";
    }
  }
  EXPECT_NEAR(head_on(3).loss({.diagnosis = "factor", .sum_factor = 3}, 0), right + std::log(3.0), 1e-12);
}

TEST(DividedHead, TheGradientIsThatOfTheLoss) {
  constexpr double kStep = 1e-6;
  const std::vector<double> gradient = head_on(3).weight_gradient(1, formulas::Denominator::sum);
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

TEST(DividedHead, DenominatorsOfTheGradientShow) {
  const std::vector<double> right = head_on(3).weight_gradient(1, formulas::Denominator::sum);
  const std::vector<double> own = head_on(3).weight_gradient(1, formulas::Denominator::own_sum);
  const std::vector<double> none = head_on(3).weight_gradient(1, formulas::Denominator::nothing);
  const auto apart = [](const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  };
  EXPECT_GT(apart(own, right), 1e-2);
  EXPECT_GT(apart(none, right), 1e-2);
  EXPECT_GT(apart(none, own), 1e-2);
  EXPECT_LT(apart(head_on(1).weight_gradient(1, formulas::Denominator::own_sum), right), 1e-12)
      << "alone, the own sum is the sum";
}

}  // namespace
}  // namespace shardlings::grading
