// The judge's Muon: what becomes of singular values, by the polynomial alone; tall matrices as wide ones.
#include "grading/reference/muon.h"

#include <gtest/gtest.h>

#include <cmath>

#include "case/data.h"
#include "grading/formulas/muon_cost.h"

namespace shardlings::grading {
namespace {

using reference::Array;

/// Of one singular value: the recurrence of a matrix of one element, which normalized() has made 1 or less.
double iterated(double value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = 3.4445 * value - 4.7750 * std::pow(value, 3) + 2.0315 * std::pow(value, 5);
  return value;
}

Array<double> some_matrix(Count size) {
  const std::vector<float> numbers = cases::normals_of(cases::Case{}, 0, size);
  return {numbers.begin(), numbers.end()};
}

TEST(Muon, IteratesEachSingularValueByItself) {
  const Array<double> diagonal{3, 0, 0, 0, 4, 0};  // (2, 3), of norm 5
  const Array<double> result = reference::orthogonalized(diagonal, 2, 3);
  EXPECT_NEAR(result[0], iterated(0.6, 5), 1e-12);
  EXPECT_NEAR(result[4], iterated(0.8, 5), 1e-12);
  for (const std::size_t zero : {1, 2, 3, 5}) EXPECT_EQ(result[zero], 0);
  EXPECT_NEAR(reference::orthogonalized(diagonal, 2, 3, {.number = 1})[0], iterated(0.6, 1), 1e-12);
}

TEST(Muon, BringsSingularValuesNearOne) {
  const double rest = std::sqrt(1 - 0.01 * 0.01 - 0.1 * 0.1 - 0.5 * 0.5);  // so that the norm is 1
  const Array<double> values{0.01, 0.1, 0.5, rest};
  Array<double> diagonal(16);
  for (std::size_t i = 0; i < 4; ++i) diagonal[5 * i] = values[i];
  const Array<double> result = reference::orthogonalized(diagonal, 4, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GT(result[5 * i], 0.6) << values[i];
    EXPECT_LT(result[5 * i], 1.3) << values[i];
  }
}

TEST(Muon, LeavesTheSmallestSingularValuesBelowOne) {
  EXPECT_NEAR(iterated(1e-4, 5), 0.048, 1e-3) << "about 3.4445^5 times as large";
  for (double value = 0.003; value <= 1; value += 0.0005) {
    EXPECT_GT(iterated(value, 5), 0.67) << value;
    EXPECT_LT(iterated(value, 5), 1.21) << value;
  }
}

TEST(Muon, RoundsWithAMistake) {
  const Array<double> diagonal{3, 0, 0, 0, 4, 0};
  EXPECT_EQ(reference::orthogonalized(diagonal, 2, 3, {.number = 0, .begins_with_normalized = false}), diagonal);
  const Array<double> again = reference::orthogonalized(diagonal, 2, 3, {.number = 2, .normalized_in_each = true});
  const Array<double> once = reference::normalized(reference::orthogonalized(diagonal, 2, 3, {.number = 1}));
  EXPECT_NEAR(again[0], iterated(once[0], 1), 1e-12);
}

TEST(Muon, TreatsTallMatricesAsWideOnes) {
  const Array<double> m = some_matrix(12);
  const Array<double> wide = reference::orthogonalized(m, 3, 4);
  const Array<double> tall = reference::orthogonalized(reference::transposed(m, 3, 4), 4, 3);
  EXPECT_EQ(reference::transposed(tall, 4, 3), wide);
}

TEST(Muon, DoesNotSeeTheScale) {
  const Array<double> m = some_matrix(20);
  Array<double> larger = m;
  for (double& each : larger) each *= 8;  // a power of two rounds nothing
  EXPECT_EQ(reference::orthogonalized(larger, 5, 4), reference::orthogonalized(m, 5, 4));
}

TEST(Muon, CostsLeastWithTheSmallerSquare) {
  const formulas::MuonMatrix tall{28, 12}, wide{12, 28};
  EXPECT_EQ(tall.flops(), 5 * (2 * 12 * 28 * 12 + 2 * 12 * 12 * 12 + 2 * 12 * 12 * 28));
  EXPECT_EQ(tall.flops(), 97'920);
  EXPECT_EQ(wide.flops(), tall.flops());
  EXPECT_EQ(tall.flops_with(tall.large()), 407'680);
}

}  // namespace
}  // namespace shardlings::grading
