// Orders of passes against closed forms, and the bound against all orders that there are.
#include "grading/formulas/zero_bubble.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace shardlings::grading::formulas {
namespace {

PassPlan plan_of(int p, int m, int most, StageTimes each) {
  return {std::vector<StageTimes>(static_cast<std::size_t>(p), each), m, most};
}

StageTimes times(std::int64_t forward, std::int64_t input, std::int64_t weights) {
  return {Nanos(forward), Nanos(input), Nanos(weights)};
}

std::int64_t end_of(const PassPlan& plan, PassOrder (*order)(const PassPlan&, int)) {
  const std::optional<Nanos> end = end_along(plan, [&](int r) { return order(plan, r); });
  EXPECT_TRUE(end) << "the orders wait for one another";
  return end ? end->value() : -1;
}

// Qi et al. 2024 (arXiv 2401.10241), table 2; the first is 27 with p = 4, m = 8 and F = B = W = 1.
TEST(ZeroBubble, TakesThePapersTime) {
  EXPECT_EQ(end_of(plan_of(4, 8, 4, times(1, 1, 1)), zero_bubble_order), 27);
  for (const StageTimes each : {times(1, 1, 1), times(4, 5, 3), times(2, 3, 1), times(3, 3, 2)}) {
    const std::int64_t f = each.forward.value(), b = each.input.value(), w = each.weights.value();
    for (int p = 1; p <= 6; ++p) {
      for (int m = p; m <= 3 * p; ++m) {
        const PassPlan plan = plan_of(p, m, p, each);
        EXPECT_EQ(end_of(plan, zero_bubble_order), m * (f + b + w) + (p - 1) * (f + b - w)) << p << " " << m;
        EXPECT_EQ(lower_bound(plan).value(), m * (f + b + w) + (p - 1) * (f + b - w)) << p << " " << m;
      }
    }
  }
}

TEST(ZeroBubble, HoldsWhatTheMemoryAllows) {
  for (int p = 1; p <= 5; ++p) {
    for (int m = 1; m <= 9; ++m) {
      for (int most = 1; most <= 2 * p; ++most) {
        const PassPlan plan = plan_of(p, m, most, times(1, 1, 1));
        for (int r = 0; r < p; ++r) {
          for (const PassOrder& order : {zero_bubble_order(plan, r), whole_backward_order(plan, r)}) {
            EXPECT_LE(most_held(order), most) << letters_of(order);
            for (const Pass pass : {Pass::forward, Pass::input, Pass::weights}) {
              EXPECT_EQ(std::count(order.begin(), order.end(), pass), m) << letters_of(order);
            }
          }
        }
        EXPECT_LE(end_of(plan, zero_bubble_order), end_of(plan, whole_backward_order));
        EXPECT_GE(end_of(plan, zero_bubble_order), lower_bound(plan).value());
      }
    }
  }
}

TEST(ZeroBubble, PutsWeightsOffByTheRank) {
  const PassPlan plan = plan_of(4, 8, 4, times(1, 1, 1));
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(inputs_before_weights(zero_bubble_order(plan, r)), r + 1);
    EXPECT_EQ(leading_forwards(zero_bubble_order(plan, r)), 4 - r);
  }
  EXPECT_EQ(letters_of(zero_bubble_order(plan_of(2, 3, 2, times(1, 1, 1)), 1)), "FBFBWFBWW");
}

TEST(ZeroBubble, MoreMemoryReachesTheBound) {
  for (int most = 4; most <= 7; ++most) {
    const PassPlan plan = plan_of(4, 8, most, times(4, 5, 3));
    EXPECT_EQ(end_of(plan, zero_bubble_order), lower_bound(plan).value()) << most;
  }
}

TEST(ZeroBubble, OrdersThatWaitForOneAnotherHaveNoEnd) {
  const PassPlan plan = plan_of(2, 2, 2, times(1, 1, 1));
  const auto backwards = [](int r) {
    return r == 0 ? PassOrder{Pass::forward, Pass::input, Pass::forward, Pass::weights, Pass::input, Pass::weights}
                  : PassOrder{Pass::forward, Pass::forward, Pass::input, Pass::input, Pass::weights, Pass::weights};
  };
  EXPECT_FALSE(end_along(plan, backwards));
}

/// All orders of m micro-batches that hold no more than `most`.
void all_orders(int m, int most, PassOrder order, std::vector<PassOrder>& all) {
  const auto number = [&](Pass pass) { return static_cast<int>(std::count(order.begin(), order.end(), pass)); };
  const int forwards = number(Pass::forward), inputs = number(Pass::input), weights = number(Pass::weights);
  if (weights == m) return all.push_back(order);
  const auto with = [&](Pass pass) {
    order.push_back(pass);
    all_orders(m, most, order, all);
    order.pop_back();
  };
  if (forwards < m && forwards - weights < most) with(Pass::forward);
  if (inputs < forwards) with(Pass::input);
  if (weights < inputs) with(Pass::weights);
}

/// The earliest end of all combinations of the ranks' orders.
Nanos best_of_all(const PassPlan& plan) {
  std::vector<PassOrder> all;
  all_orders(plan.m, plan.most, {}, all);
  std::optional<Nanos> best;
  std::vector<std::size_t> chosen(plan.times.size());
  for (std::size_t r = 0; r < chosen.size();) {
    const auto end = end_along(plan, [&](int rank) { return all[chosen[static_cast<std::size_t>(rank)]]; });
    if (end && (!best || *end < *best)) best = end;
    for (r = 0; r < chosen.size() && ++chosen[r] == all.size(); ++r) chosen[r] = 0;
  }
  return best.value();
}

TEST(ZeroBubble, NoOrderBeatsTheBound) {
  std::uint64_t seed = 0, next = 0;
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(below_at(n, seed, next++)); };
  int reached = 0, plans = 0;
  for (const auto& [p, m] : {std::pair{1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 2}}) {
    for (int most = 1; most <= m; ++most) {
      for (seed = 1; seed <= 6; ++seed) {
        PassPlan plan = plan_of(p, m, most, times(1 + below(3), 1 + below(3), 1 + below(3)));
        if (seed % 2 == 0) plan.times.back() = times(1 + below(3), 1 + below(3), 1 + below(3));
        const Nanos best = best_of_all(plan);
        EXPECT_GE(best, lower_bound(plan)) << fmt::format("p {} m {} most {} seed {}", p, m, most, seed);
        ++plans;
        reached += best == lower_bound(plan) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(2 * reached, plans) << "a bound that is hardly ever reached says little";
}

}  // namespace
}  // namespace shardlings::grading::formulas
