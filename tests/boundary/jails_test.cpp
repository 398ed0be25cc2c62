#include "boundary/broker/jails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/sanitizers.h"

namespace shardlings::boundary {
namespace {

constexpr const char* kProgram = SHARDLINGS_TEST_IDLE;

TEST(Jails, HaveTheWallsThatTheirKeeperHasPutUp) {
  CrashNote note;
  std::int64_t peak = 0;
  const Jails jails({.program = kProgram, .ranks = 3}, note, peak);
  const Walls& walls = jails.walls();
  EXPECT_TRUE(walls.own_process && walls.no_privileges && walls.limits);
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "a sanitizer needs what the other walls take";
  EXPECT_TRUE(walls.system_calls);
  EXPECT_EQ(walls.tier() > 0, geteuid() == 0);
}

TEST(Jails, HaveNoControlGroupWhereTheSystemCannotLimitIt) {
  const std::string folder = testing::TempDir() + "no control groups";
  std::filesystem::create_directories(folder + "/shardlings.999999999");  // of a run that is no more
  EXPECT_FALSE(Cgroup({.memory_bytes = 1 << 20, .processes = 2}, folder).valid());
  EXPECT_EQ(std::filesystem::is_empty(folder), geteuid() == 0) << "root leaves nothing";
  std::filesystem::remove_all(folder);
}

TEST(Jails, AreNotBegunBehindFewerWallsThanAskedFor) {
  CrashNote note;
  std::int64_t peak = 0;
  try {
    const Jails jails({.program = kProgram, .ranks = 2, .least_tier = 9}, note, peak);
    FAIL() << "there is no such tier";
  } catch (const TooFewWalls& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("which was not run"));
    EXPECT_THAT(error.what(), testing::HasSubstr("own process"));
  }
}

TEST(Jails, ThatCannotBeStartedAreTheMachinesFault) {
  CrashNote note;
  std::int64_t peak = 0;
  EXPECT_THROW(Jails({.program = "/nowhere/program"}, note, peak), std::exception);
}

}  // namespace
}  // namespace shardlings::boundary
