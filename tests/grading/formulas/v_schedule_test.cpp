// The V schedule against the figures of its paper, and its bound against orders drawn at random.
#include "grading/formulas/v_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/random.h"

namespace shardlings::grading::formulas {
namespace {

FoldedPlan plan_of(int p, int m, std::int64_t forward, std::int64_t input, std::int64_t weights) {
  return {{Nanos(forward), Nanos(input), Nanos(weights)}, p, m};
}

std::int64_t end_of_v(const FoldedPlan& plan) {
  const auto end = end_along(plan, [&](int r) { return v_order(plan, r); });
  EXPECT_TRUE(end) << fmt::format("p {} m {}: the orders wait for one another", plan.p, plan.m);
  return end ? end->value() : -1;
}

std::int64_t end_of_h1(const FoldedPlan& plan) {
  const PassPlan straight = plan.unfolded();
  return end_along(straight, [&](int r) { return zero_bubble_order(straight, r); })->value();
}

// Qi et al. 2024 (arXiv 2401.10241), section 6: with F = B = W no bubble, and p micro-batches on each rank.
TEST(VSchedule, HasNoBubbleWithinTheMemoryOf1F1B) {
  for (int p = 1; p <= 9; ++p) {
    for (int m = 2 * p - 1; m <= 4 * p + 1; ++m) {
      const FoldedPlan plan = plan_of(p, m, 1, 1, 1);
      const auto spans = spans_along(plan, [&](int r) { return v_order(plan, r); });
      ASSERT_TRUE(spans) << p << " " << m;
      for (int r = 0; r < p; ++r) {
        const RankSpan& span = spans->at(static_cast<std::size_t>(r));
        EXPECT_EQ((span.end - span.begin).value(), 6 * m) << fmt::format("p {} m {} rank {}", p, m, r);
        EXPECT_EQ(span.begin.value(), r);
        const int held = most_held(v_order(plan, r));
        EXPECT_EQ(held, std::min(2 * p, m + r + 1)) << fmt::format("p {} m {} rank {}", p, m, r);
      }
      EXPECT_EQ(end_of_v(plan), p - 1 + 6 * m);
      EXPECT_EQ(lower_bound(plan).value(), p - 1 + 6 * m);
    }
  }
}

// By hand, with 4 ranks and 8 micro-batches: 1F1B takes 66 times a pass of a chunk, ZB-H1 54.
TEST(VSchedule, HalvesTheBubbleOfZeroBubbleH1) {
  const FoldedPlan plan = plan_of(4, 8, 1, 1, 1);
  EXPECT_EQ(end_of_h1(plan), 54);
  EXPECT_EQ(end_of_v(plan), 51);
  for (const auto& [f, b, w] : {std::tuple{1, 1, 1}, {4, 5, 3}, {10, 11, 9}, {3, 3, 2}, {3, 4, 3}}) {
    for (int p = 1; p <= 8; ++p) {
      for (int m = 2 * p - 1; m <= 3 * p; ++m) {
        const FoldedPlan each = plan_of(p, m, f, b, w);
        const std::int64_t work = 2 * m * (f + b + w);
        EXPECT_LE(2 * (end_of_v(each) - work), end_of_h1(each) - work) << fmt::format("{} {} {} {}", f, b, w, p);
      }
    }
  }
}

TEST(VSchedule, IsWholeAndWithinTheMemoryWithFewMicroBatchesToo) {
  for (int p = 1; p <= 9; ++p) {
    for (int m = 1; m < 2 * p; ++m) {
      const FoldedPlan plan = plan_of(p, m, 1, 1, 1);
      EXPECT_LE(end_of_v(plan), end_of_h1(plan)) << p << " " << m;
      EXPECT_GE(end_of_v(plan), lower_bound(plan).value()) << p << " " << m;
      for (int r = 0; r < p; ++r) {
        const ChunkOrder order = v_order(plan, r);
        EXPECT_LE(most_held(order), 2 * p) << letters_of(order);
        for (const int chunk : {0, 1}) {
          for (const Pass pass : {Pass::forward, Pass::input, Pass::weights}) {
            EXPECT_EQ(std::count(order.begin(), order.end(), ChunkPass{pass, chunk}), m) << letters_of(order);
          }
        }
      }
    }
  }
}

TEST(VSchedule, ReadsAsThePaperDrawsIt) {
  const FoldedPlan plan = plan_of(2, 4, 1, 1, 1);
  EXPECT_EQ(letters_of(v_order(plan, 0)), "FFFfbwfbwFBWfbwBWfbwBWBW");
  EXPECT_EQ(letters_of(v_order(plan, 1)), "FfFfbwFBWfbwFBWfbwBbBWwW");
}

TEST(VSchedule, OrdersThatWaitForOneAnotherHaveNoEnd) {
  const FoldedPlan plan = plan_of(2, 3, 1, 1, 1);
  const auto too_few_ahead = [&](int r) {
    ChunkOrder order = v_order(plan, r);
    if (r == 0) std::rotate(order.begin(), order.begin() + 3, order.begin() + 4);
    return order;
  };
  EXPECT_FALSE(end_along(plan, too_few_ahead));
}

/// Orders of all ranks that can be run: again and again some rank does some pass for which everything is there.
std::vector<ChunkOrder> drawn_orders(const FoldedPlan& plan, std::uint64_t seed) {
  std::vector<ChunkOrder> orders(static_cast<std::size_t>(plan.p));
  std::map<std::tuple<int, Pass>, int> done;  // by stage
  const int stages = 2 * plan.p;
  const auto can = [&](int stage, Pass pass) {
    const int number = done[{stage, pass}];
    if (number == plan.m) return false;
    if (pass == Pass::weights) return number < done[{stage, Pass::input}];
    if (pass == Pass::forward) return stage == 0 || number < done[{stage - 1, Pass::forward}];
    return number < done[{stage, Pass::forward}] && (stage + 1 == stages || number < done[{stage + 1, Pass::input}]);
  };
  std::uint64_t next = 0;
  for (int passes = 0; passes < 3 * stages * plan.m;) {
    const int stage = static_cast<int>(below_at(static_cast<std::uint32_t>(stages), seed, next++));
    const auto pass = static_cast<Pass>(below_at(3, seed, next++));
    if (!can(stage, pass)) continue;
    const bool second = stage >= plan.p;
    orders[static_cast<std::size_t>(second ? stages - 1 - stage : stage)].push_back({pass, second ? 1 : 0});
    ++done[{stage, pass}];
    ++passes;
  }
  return orders;
}

TEST(VSchedule, NoOrderBeatsTheBound) {
  int reached = 0;
  for (const auto& [p, m] : {std::pair{1, 1}, {1, 3}, {2, 1}, {2, 2}, {2, 4}, {3, 2}, {4, 1}}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const auto time = [&](std::uint64_t which) { return 1 + static_cast<std::int64_t>(below_at(3, seed, which)); };
      const FoldedPlan plan = plan_of(p, m, time(1), time(2), time(3));
      const std::vector<ChunkOrder> orders = drawn_orders(plan, seed + 1000);
      const auto end = end_along(plan, [&](int r) { return orders[static_cast<std::size_t>(r)]; });
      ASSERT_TRUE(end);
      EXPECT_GE(*end, lower_bound(plan)) << fmt::format("p {} m {} seed {}", p, m, seed);
      reached += *end == lower_bound(plan) ? 1 : 0;
    }
  }
  EXPECT_GT(reached, 0);
}

}  // namespace
}  // namespace shardlings::grading::formulas
