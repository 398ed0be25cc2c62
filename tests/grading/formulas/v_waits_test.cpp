// Why an order is slower than the V schedule: rows of letters whose fault is known, and orders drawn at random, of
// which everything that is told must hold.
#include "grading/formulas/v_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace shardlings::grading::formulas {
namespace {

FoldedPlan wait_plan(int p, int m, std::int64_t forward = 1, std::int64_t input = 1, std::int64_t weights = 1) {
  return {{Nanos(forward), Nanos(input), Nanos(weights)}, p, m};
}

ChunkOrder order_of_letters(const std::string& letters) {
  ChunkOrder order;
  for (const char letter : letters) {
    const std::size_t kind = std::string("FBWfbw").find(letter);
    order.push_back({static_cast<Pass>(kind % 3), kind < 3 ? 0 : 1});
  }
  return order;
}

std::optional<WaitCause> cause_in(const FoldedPlan& plan, const std::vector<std::string>& rows) {
  return first_wait(plan, [&](int r) { return order_of_letters(rows[static_cast<std::size_t>(r)]); });
}

TEST(VWaits, FindsNoneInTheScheduleItself) {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 3 * p; ++m) {
      for (const FoldedPlan& plan : {wait_plan(p, m), wait_plan(p, m, 4, 5, 3)}) {
        EXPECT_FALSE(first_wait(plan, [&](int r) { return v_order(plan, r); })) << fmt::format("p {} m {}", p, m);
      }
    }
  }
}

// Two ranks, four micro-batches; the schedule is FFFfbwfbwFBWfbwBWfbwBWBW and FfFfbwFBWfbwFBWfbwBbBWwW.
struct FaultyRow {
  const char* name;
  const char* upper;
  const char* lower;
  bool too_soon;
  PassOnRank pass;
};

const char* const kUpper = "FFFfbwfbwFBWfbwBWfbwBWBW";
const char* const kLower = "FfFfbwFBWfbwFBWfbwBbBWwW";
constexpr ChunkPass kFirstInput{Pass::input, 0}, kSecondForward{Pass::forward, 1}, kSecondInput{Pass::input, 1};

TEST(VWaits, NamesTheFaultOfARow) {
  const FoldedPlan plan = wait_plan(2, 4);
  ASSERT_EQ(letters_of(v_order(plan, 0)), kUpper);
  ASSERT_EQ(letters_of(v_order(plan, 1)), kLower);
  for (const FaultyRow& row : {
           FaultyRow{"first_chunk_short", "FFfbwfbwFFBWfbwBWfbwBWBW", kLower, true, {0, kSecondForward, 0}},
           FaultyRow{"first_chunk_long", kUpper, "FFffbwFBWfbwFBWfbwBbBWwW", false, {1, kSecondForward, 0}},
           FaultyRow{"second_chunk_short", kUpper, "FfbwFBWfbwFBWfbwFBWfbwBW", true, {1, kSecondInput, 0}},
           FaultyRow{"second_chunk_long", "FFFffbwbwFBWfbwBWfbwBWBW", kLower, true, {0, kSecondForward, 1}},
           FaultyRow{"turn_short", "FFFfbwFBWfbwBWfbwBWfbwBW", kLower, true, {0, kFirstInput, 0}},
           FaultyRow{"turn_long", "FFFfbwfbwfbwFBWfbwBWBWBW", kLower, true, {0, kSecondForward, 2}},
           FaultyRow{"weights_too_early", kUpper, "FfFfbwFBWfbwFBWfbwBWbwBW", false, {1, kFirstInput, 3}},
           FaultyRow{"inputs_out_of_order", kUpper, "FfFfbwFBWfbwFBWfbwbBBWwW", false, {1, kFirstInput, 2}},
       }) {
    const auto cause = cause_in(plan, {row.upper, row.lower});
    ASSERT_TRUE(cause) << row.name;
    EXPECT_STREQ(name_of_cause(*cause), row.name);
    EXPECT_EQ(cause->too_soon, row.too_soon) << row.name;
    EXPECT_EQ(cause->pass.which, row.pass) << row.name;
  }
}

/// The schedule's rows, in which neighbours were exchanged where all rows could still be run then.
std::vector<ChunkOrder> drawn_rows(const FoldedPlan& plan, std::uint64_t seed) {
  std::vector<ChunkOrder> rows;
  for (int r = 0; r < plan.p; ++r) rows.push_back(v_order(plan, r));
  const auto rows_run = [&] {
    return timetable_along(plan, [&](int r) { return rows[static_cast<std::size_t>(r)]; }).has_value();
  };
  for (std::uint64_t next = 0; next < 40; next += 2) {
    ChunkOrder& row = rows[below_at(static_cast<std::uint32_t>(plan.p), seed, next)];
    const std::size_t at = below_at(static_cast<std::uint32_t>(row.size() - 1), seed, next + 1);
    std::swap(row[at], row[at + 1]);
    if (!rows_run()) std::swap(row[at], row[at + 1]);
  }
  return rows;
}

void expect_holds(const Timetable& run, const WaitCause& cause, const std::string& where) {
  EXPECT_GT(cause.waiting.begin, cause.waiting.free) << where;
  EXPECT_FALSE(cause.instead.empty()) << where;
  const std::vector<TimedPass>& rank = run[static_cast<std::size_t>(cause.pass.which.rank)];
  for (const PassOnRank& which : cause.instead) {
    const auto is_it = [&](const TimedPass& pass) { return pass.which == which; };
    const auto found = std::find_if(rank.begin(), rank.end(), is_it);
    ASSERT_NE(found, rank.end()) << where;
    if (cause.too_soon) {
      EXPECT_LT(found->ready, cause.waiting.begin) << where;
      EXPECT_GE(found->begin, cause.waiting.end) << where;
    } else {
      EXPECT_LE(found->end, cause.pass.begin) << where;
      EXPECT_GT(found->end, cause.pass.ready) << where;
    }
  }
}

TEST(VWaits, TellsOnlyWhatHoldsAndTellsItMostly) {
  int slower = 0, told = 0;
  for (int p = 2; p <= 6; ++p) {
    for (const FoldedPlan& plan : {wait_plan(p, 2 * p), wait_plan(p, 2 * p + 1, 4, 5, 3), wait_plan(p, p)}) {
      for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const std::vector<ChunkOrder> rows = drawn_rows(plan, seed);
        const auto order = [&](int r) { return rows[static_cast<std::size_t>(r)]; };
        const auto run = timetable_along(plan, order);
        const auto cause = first_wait(plan, order);
        ASSERT_TRUE(run);
        if (cause) expect_holds(*run, *cause, fmt::format("p {} m {} seed {}", p, plan.m, seed));
        const bool is_slower = end_along(plan, order) > end_along(plan, [&](int r) { return v_order(plan, r); });
        slower += is_slower ? 1 : 0;
        told += is_slower && cause ? 1 : 0;
      }
    }
  }
  EXPECT_GT(slower, 100);
  EXPECT_GE(told, slower * 9 / 10) << slower;
}

}  // namespace
}  // namespace shardlings::grading::formulas
