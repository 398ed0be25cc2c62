// Where training with old gradients diverges, against the iteration itself.
#include "grading/formulas/staleness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace shardlings::grading::formulas {
namespace {

/// By how much w grows over some thousand updates, its largest value in a stretch of them over that of an earlier one.
double growth(int staleness, double a) {
  constexpr std::size_t kFirst = 2000, kUpdates = 6000, kStretch = 500;
  const auto old = static_cast<std::size_t>(staleness);
  std::vector<double> w(old + 1, 1);
  while (w.size() < kUpdates) w.push_back(w.back() - a * w[w.size() - 1 - old]);
  const auto largest = [&](std::size_t begin) {
    double most = 0;
    for (std::size_t i = begin; i < begin + kStretch; ++i) most = std::max(most, std::abs(w[i]));
    return most;
  };
  return largest(kUpdates - kStretch) / largest(kFirst);
}

TEST(DivergenceThreshold, IsWhereTheIterationBeginsToGrow) {
  for (int staleness = 0; staleness <= 20; ++staleness) {
    SCOPED_TRACE("staleness " + std::to_string(staleness));
    const double threshold = divergence_threshold(staleness);
    EXPECT_LT(growth(staleness, 0.99 * threshold), 1);
    EXPECT_GT(growth(staleness, 1.01 * threshold), 1);
  }
}

TEST(DivergenceThreshold, IsKnownForThreeStalenesses) {
  EXPECT_NEAR(divergence_threshold(0), 2, 1e-12);
  EXPECT_NEAR(divergence_threshold(1), 1, 1e-12);
  EXPECT_NEAR(divergence_threshold(2), (std::sqrt(5) - 1) / 2, 1e-12) << "the golden section";
}

}  // namespace
}  // namespace shardlings::grading::formulas
