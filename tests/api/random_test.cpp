// The order of a data set.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "shardlings/puzzle.h"

namespace shardlings {
namespace {

TEST(Shuffled, HasEveryNumberOnce) {
  for (const Count n : {0, 1, 2, 3, 17, 1000}) {
    std::vector<Count> order = shuffled(n, 5), sorted(static_cast<std::size_t>(n));
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, sorted);
  }
}

/// So that an order of today is the same one tomorrow: runs are resumed by it.
TEST(Shuffled, IsTheSameForeverForASeed) {
  EXPECT_EQ(shuffled(10, 1), shuffled(10, 1));
  EXPECT_NE(shuffled(10, 1), shuffled(10, 2));
  EXPECT_EQ(shuffled(10, 1), (std::vector<Count>{3, 9, 5, 2, 8, 6, 1, 0, 7, 4}));
}

TEST(Shuffled, PutsEveryNumberEverywhere) {
  constexpr int kRuns = 6000, kSize = 6;
  std::vector<int> times(kSize * kSize);
  for (int seed = 0; seed < kRuns; ++seed) {
    const std::vector<Count> order = shuffled(kSize, static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < order.size(); ++i) ++times[i * kSize + static_cast<std::size_t>(order[i])];
  }
  for (const int found : times) EXPECT_NEAR(found, kRuns / kSize, 150);  // five deviations of a share of 1/6
}

TEST(Shuffled, RefusesWhatIsNoSize) {
  EXPECT_THROW(shuffled(-1, 0), InvalidArgument);
  EXPECT_THROW(shuffled(Count{1} << 32, 0), InvalidArgument);
}

}  // namespace
}  // namespace shardlings
