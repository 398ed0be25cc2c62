// Peaks of memory against what they may be.

#include <gtest/gtest.h>

#include <stdexcept>

#include "grading/judge/judge.h"

namespace shardlings::grading {
namespace {

using judge::Formula;

/// A context on a run of two ranks with these peaks.
class PeakTest : public testing::Test {
 protected:
  PeakTest() {
    kase_.ranks = 2;
    result_.ending = wire::Ending::finished;
    result_.report.ranks.resize(2);
    for (const std::size_t rank : {0, 1}) {
      result_.report.ranks[rank].counters.peak = Bytes(rank == 0 ? 100 : 300);
      result_.report.ranks[rank].counters.peak_line = 7;
    }
  }
  cases::Case kase_;
  wire::Result result_;
  verdict::CheckVerdict verdict_;
  judge::CheckContext check_{kase_, result_, []() -> const reference::Reference& { throw std::logic_error("none"); },
                             verdict_};
};

TEST_F(PeakTest, OfAllRanksIsThatOfTheWorst) {
  EXPECT_TRUE(check_.peaks_at_most(3 * Formula<Bytes>(Bytes(100))));
  EXPECT_FALSE(check_.peaks_at_most(3 * Formula<Bytes>(Bytes(100)) - Bytes(1)));
  EXPECT_EQ(verdict_.expected, "peak memory of rank 1: at most 299 B = 3 x 100 - 1");
  EXPECT_EQ(verdict_.where.line, 7);
  ASSERT_EQ(verdict_.bounds.size(), 2U);
  EXPECT_EQ(verdict_.bounds[0].of, verdict::Bound::Of::peak);
  EXPECT_EQ(verdict_.bounds[0].rank, -1);
  EXPECT_EQ(verdict_.bounds[1].found, 300);
}

TEST_F(PeakTest, OfOneRankIsItsOwn) {
  EXPECT_TRUE(check_.peak_at_most(0, Bytes(100)));
  EXPECT_FALSE(check_.peak_at_most(1, Bytes(100)));
  EXPECT_EQ(verdict_.expected, "peak memory of rank 1: at most 100 B") << "a number is its own formula";
  EXPECT_EQ(verdict_.bounds[0].rank, 0);
  EXPECT_EQ(verdict_.bounds[1].rank, 1);
}

}  // namespace
}  // namespace shardlings::grading
