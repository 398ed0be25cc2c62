// Deals of work that cannot be divided: by hand, and the best one against trying all.
#include "grading/formulas/deal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace shardlings::grading {
namespace {

using formulas::Costs;
using formulas::Deal;

/// The busiest rank of the best of all ranks^n deals.
std::int64_t best_of_all(const Costs& costs, int ranks) {
  Deal owner(costs.size());
  std::int64_t best = formulas::busiest(costs, owner, ranks);
  while (true) {
    std::size_t i = 0;
    while (i < owner.size() && ++owner[i] == ranks) owner[i++] = 0;
    if (i == owner.size()) return best;
    best = std::min(best, formulas::busiest(costs, owner, ranks));
  }
}

TEST(Deal, GivesEachPieceToTheRankWithTheLeast) {
  const Costs costs{3, 1, 4, 1, 5};
  EXPECT_EQ(formulas::dealt_to_least(costs, formulas::given_order(5), 2), (Deal{0, 1, 1, 0, 0}));
  EXPECT_EQ(formulas::costliest_first(costs), (std::vector<std::size_t>{4, 2, 0, 1, 3}));
  EXPECT_EQ(formulas::dealt_to_least(costs, formulas::costliest_first(costs), 2), (Deal{1, 0, 1, 0, 0}));
  EXPECT_EQ(formulas::busiest(costs, {0, 1, 1, 0, 0}, 2), 9);
}

TEST(Deal, IsAThirdFromTheBestInTheWorstCaseOfGraham) {
  const Costs costs{3, 3, 2, 2, 2};  // 7/6 = 4/3 - 1/6
  EXPECT_EQ(formulas::busiest(costs, formulas::dealt_to_least(costs, formulas::costliest_first(costs), 2), 2), 7);
  EXPECT_EQ(formulas::busiest_of_best_deal(costs, 2), 6);
}

TEST(Deal, BestIsTheBestOfAll) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int ranks = 1 + static_cast<int>(below_at(4, seed, 0));
    Costs costs(below_at(7, seed, 1));
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = 1 + below_at(20, seed, 2 + i);
    const std::int64_t best = best_of_all(costs, ranks);
    EXPECT_EQ(formulas::busiest_of_best_deal(costs, ranks), best) << "seed " << seed;
    const Deal dealt = formulas::dealt_to_least(costs, formulas::costliest_first(costs), ranks);
    EXPECT_LE(3 * ranks * formulas::busiest(costs, dealt, ranks), (4 * ranks - 1) * best) << "seed " << seed;
  }
}

// Without an end at the equal share this would try all deals of fifty pieces.
TEST(Deal, SearchEndsAtAnEqualShare) {
  EXPECT_EQ(formulas::busiest_of_best_deal(Costs(50, 7), 5), 70);
  Costs with_a_large_one(50, 7);
  with_a_large_one.push_back(1000);
  EXPECT_EQ(formulas::busiest_of_best_deal(with_a_large_one, 5), 1000);
}

TEST(Deal, OfOneHugePieceIsThatPiece) {
  EXPECT_EQ(formulas::busiest_of_best_deal({2, 100, 3, 5}, 3), 100);
  EXPECT_EQ(formulas::busiest_of_best_deal({}, 3), 0);
}

}  // namespace
}  // namespace shardlings::grading
