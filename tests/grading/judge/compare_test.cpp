#include "grading/judge/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shardlings::grading {
namespace {

const std::vector<double> kExpected = {1, -2, 0, 4};
const std::vector<double> kTolerance(4, 1e-3);

TEST(Compare, NothingWithinTheTolerance) {
  const std::vector<float> got = {1.0005F, -2, 0, 3.9995F};
  EXPECT_FALSE(judge::first_difference(got, kExpected, kTolerance));
}

TEST(Compare, FirstDifferenceAndHowMany) {
  const std::vector<float> got = {1, -2.5F, 0, 5};
  const auto difference = judge::first_difference(got, kExpected, kTolerance);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->index, 1U);
  EXPECT_EQ(difference->got, -2.5);
  EXPECT_EQ(difference->expected, -2);
  EXPECT_EQ(difference->count, 2U);
  EXPECT_FALSE(difference->ratio) << "-2.5/-2 and 5/4 are the same, but the first element is right";
}

TEST(Compare, DistanceIsInUnitsOfTheTolerance) {
  const std::vector<double> expected = {1, 2, 3}, tolerance = {0.5, 0.25, 0};
  EXPECT_EQ(judge::distance(std::vector<float>{1, 2, 3}, expected, tolerance), 0);
  EXPECT_EQ(judge::distance(std::vector<float>{1.25F, 2, 3}, expected, tolerance), 0.5);
  EXPECT_EQ(judge::distance(std::vector<float>{1.25F, 1, 3}, expected, tolerance), 4);
  EXPECT_EQ(judge::distance(std::vector<float>{1.25F, 1, 4}, expected, tolerance), judge::kFarthest)
      << "nothing may differ there";
  EXPECT_EQ(judge::distance(std::vector<float>{NAN, 2, 3}, expected, tolerance), judge::kFarthest);
}

TEST(Compare, NanAndInfinityNeverPass) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {nan, std::numeric_limits<float>::infinity()}) {
    const std::vector<float> got = {1, -2, bad, 4};
    const auto difference = judge::first_difference(got, kExpected, std::vector<double>(4, 1e300));
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->index, 2U);
    EXPECT_FALSE(difference->ratio);
  }
  EXPECT_FALSE(judge::close(1, std::nan(""), 1e300));
}

TEST(Compare, RatioOfTheWholeTensor) {
  const std::vector<float> got = {4.001F, -8, 0, 16};
  const auto difference = judge::first_difference(got, kExpected, kTolerance);
  ASSERT_TRUE(difference);
  ASSERT_TRUE(difference->ratio);
  EXPECT_NEAR(*difference->ratio, 4, 1e-3);
  EXPECT_FALSE(judge::common_ratio(got, std::vector<double>(4, 0.0), kTolerance)) << "nothing to be a multiple of";
}

TEST(Compare, RatioInWords) {
  EXPECT_EQ(judge::ratio_text(4), "every element is 4 times too large");
  EXPECT_EQ(judge::ratio_text(0.25), "every element is 4 times too small");
  EXPECT_EQ(judge::ratio_text(-1), "every element has the wrong sign");
  EXPECT_EQ(judge::ratio_text(-2), "every element is -2 times what it should be");
  EXPECT_EQ(judge::ratio_text(0), "every element is zero");
}

TEST(Compare, ElementsAreNamedByTheirMatrix) {
  cases::Case kase;
  kase.model.layers = 2;
  kase.model.hidden = 4;
  kase.model.outputs = 3;
  const std::vector<Entry> entries = model::make_structure(kase.model).layers[1].entries;
  const auto at = static_cast<std::size_t>(entries[0].range.begin + 4 + 2);
  EXPECT_EQ(judge::element_text(kase, 1, at), std::string(entries[0].name) + " (row 1, column 2)");
  EXPECT_EQ(judge::element_text(kase, -1, 9), "element 9");
  EXPECT_EQ(judge::element_text(kase, 1, 1000), "element 1000");
}

TEST(NearlyRight, IsWhatRoundingsToBf16Leave) {
  const std::vector<double> expected = {1, -2, 0.0001, 1, 2, -1, 1, -2, 1};
  const auto with = [&](double factor, double third) {
    std::vector<float> got;
    for (const double value : expected) got.push_back(static_cast<float>(factor * value));
    got[2] = static_cast<float>(third);
    return judge::nearly_right(got, expected);
  };
  EXPECT_TRUE(with(1.005, 0)) << "small beside the others";
  EXPECT_TRUE(with(1, 0.05)) << "one is farther off than the others";
  EXPECT_FALSE(with(1, 0.2)) << "too far";
  EXPECT_FALSE(with(1.02, 0)) << "all are";
  EXPECT_FALSE(with(1, std::nan("")));
}

TEST(NearlyRight, IsNotSaidOfAFewNumbers) {
  EXPECT_FALSE(judge::nearly_right(std::vector<float>{1.001F}, std::vector<double>{1}));
}

}  // namespace
}  // namespace shardlings::grading
