// What operations on memory take where a roofline says so (docs/reference/clock.md): bytes read and written.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::ops_test {
namespace {

/// How long the second half of a program takes where a byte of the device's memory takes a nanosecond, arithmetic and
/// launches none.
std::int64_t time_of(const std::function<void(Rank&, View x, View y)>& body) {
  world::Options options;
  options.cluster.uses_table = false;
  options.cluster.roofline = {1e30, 1e30, 1e9, Nanos(0)};
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    Tensor x = rank.zeros({10, 100}, Kind::other), y = rank.zeros({10, 100}, Kind::other);
    body(rank, x, y);
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
  return report.ranks[0].counters.end.value();
}

constexpr std::int64_t kSize = 4 * 1000;  ///< bytes of x, and of y

TEST(Cost, WhatIsOnlyWrittenCountsOnce) {
  EXPECT_EQ(time_of([](Rank&, View, View y) { fill(y, 1); }), kSize);
  EXPECT_EQ(time_of([](Rank&, View x, View y) { copy(y, x); }), 2 * kSize);
  EXPECT_EQ(time_of([](Rank&, View x, View y) { cast_into(y, x); }), 2 * kSize);
  EXPECT_EQ(time_of([](Rank&, View, View y) { random_normal(y, 1, 0, 1); }), kSize);
  EXPECT_EQ(time_of([](Rank&, View x, View) { clone(x); }), 2 * kSize);
  EXPECT_EQ(time_of([](Rank&, View x, View) { cast(x, DType::bf16); }), kSize + kSize / 2);
}

TEST(Cost, WhatIsChangedWhereItLiesIsReadAndWritten) {
  EXPECT_EQ(time_of([](Rank&, View, View y) { scale(y, 2); }), 2 * kSize);
  EXPECT_EQ(time_of([](Rank&, View, View y) { dropout(y.reshaped({10, 10, 10}), 0.5F, {}); }), 2 * kSize);
  EXPECT_EQ(time_of([](Rank&, View x, View y) { add(y, x); }), 3 * kSize);
}

TEST(Cost, TheLargestAreFoundInOnePassAndNumberedInFourBytes) {
  EXPECT_EQ(time_of([](Rank&, View x, View) { top_k(x, 7); }), kSize + 4 * 10 * 7);
}

TEST(Cost, AllocatingTakesNoTimeAndSoDoesItsFillingWithZeros) {
  EXPECT_EQ(time_of([](Rank& rank, View, View) {
              rank.zeros(1000, Kind::other);
              rank.empty(1000, Kind::other);
              rank.host_zeros(1000, Kind::other);
            }),
            0);
}

}  // namespace
}  // namespace shardlings::ops_test
