#include "base/machine_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace shardlings {
namespace {

using testing::HasSubstr;

TEST(MachineFault, AdvisesWhatToDo) {
  EXPECT_THAT(advice_on(EAGAIN), HasSubstr("ulimit -u"));
  EXPECT_THAT(advice_on(EMFILE), HasSubstr("ulimit -n"));
  EXPECT_THAT(advice_on(ENOMEM), HasSubstr("ulimit -v"));
  EXPECT_THAT(advice_on(ENOSPC), HasSubstr("disk is full"));
  EXPECT_EQ(advice_on(ENOENT), "") << "that may be anybody's fault";
  EXPECT_EQ(with_advice("it broke", ENOENT), "it broke: No such file or directory.");
  EXPECT_EQ(with_advice("it broke", ENOSPC), "it broke: No space left on device. The disk is full: make room on it.");
  EXPECT_EQ(advice_in("ld: /x: No space left on device\n"), advice_on(ENOSPC));
  EXPECT_EQ(advice_in("undefined reference"), "");
}

TEST(MachineFault, IsRememberedForWhoGetsItsTextOnly) {
  try {
    throw MachineFault("no threads");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no threads");
  }
  const MachineFault second("no files");
  EXPECT_EQ(first_machine_fault(), "no threads");
}

}  // namespace
}  // namespace shardlings
