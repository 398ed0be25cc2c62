#include "base/memory_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace shardlings {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

TEST(MemoryLimits, TighterIsWhatLeavesLessPrivateMemory) {
  const std::int64_t bytes = 1000 * kMebibyte;
  EXPECT_EQ(tighter_limit({}, bytes), 0);
  EXPECT_EQ(tighter_limit({.data = bytes}, bytes), 0) << "the limit that a case has anyway";
  EXPECT_EQ(tighter_limit({.data = bytes - 1}, bytes), bytes - 1);
  EXPECT_EQ(tighter_limit({.address_space = 1512 * kMebibyte}, bytes), 0) << "code and libraries have room besides";
  EXPECT_EQ(tighter_limit({.address_space = 1511 * kMebibyte}, bytes), 1511 * kMebibyte);
  EXPECT_EQ(tighter_limit({.address_space = bytes, .data = 1}, bytes), bytes);
}

TEST(MemoryLimits, AnyIsTighterThanNone) {
  EXPECT_EQ(tighter_limit({}, 0), 0);
  EXPECT_EQ(tighter_limit({.address_space = kMebibyte << 20}, 0), kMebibyte << 20);
  EXPECT_EQ(tighter_limit({.data = kMebibyte << 20}, 0), kMebibyte << 20);
}

TEST(MemoryLimits, AreThoseOfThisProcess) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = rlim_t{1} << 40;
  if (lower.rlim_cur > lower.rlim_max) GTEST_SKIP() << "this process has less already";
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &lower), 0);
  EXPECT_EQ(memory_limits_here().data, std::int64_t{1} << 40);
  setrlimit(RLIMIT_DATA, &before);
}

}  // namespace
}  // namespace shardlings
