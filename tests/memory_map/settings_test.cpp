// Reading the command's settings.

#include "memory_map/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading {
namespace {

using testing::HasSubstr;

std::string settings_refusal(const std::string& text) {
  try {
    memory_map::parallel_of(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, OfGroups) {
  const memory_map::Parallel parallel = memory_map::parallel_of("dp=64,zero=3,shard=16,tp=8,sp,pp=4,v=2");
  EXPECT_EQ(parallel.dp, 64);
  EXPECT_EQ(parallel.zero, 3);
  EXPECT_EQ(parallel.shards(), 16);
  EXPECT_EQ(parallel.tp, 8);
  EXPECT_TRUE(parallel.sp);
  EXPECT_EQ(parallel.pp, 4);
  EXPECT_EQ(parallel.virtual_stages, 2);
  EXPECT_EQ(parallel.ranks(), 64 * 8 * 4);
  EXPECT_EQ(memory_map::parallel_of("pp=2").ranks(), 2);
  EXPECT_EQ(memory_map::parallel_of("dp=2").shards(), 2);
  EXPECT_FALSE(memory_map::parallel_of("tp=2,sp=0").sp);
}

TEST(Settings, ThatAreWrongSayWhatIsRight) {
  EXPECT_THAT(settings_refusal("dp=0"), HasSubstr("dp takes a whole number from 1 on, not '0'"));
  EXPECT_THAT(settings_refusal("dp=8x"), HasSubstr("not '8x'"));
  EXPECT_THAT(settings_refusal("dp=99999999999999999999"), HasSubstr("dp takes a whole number"));
  EXPECT_THAT(settings_refusal("dp=9999999"), HasSubstr("dp can be"));
  EXPECT_THAT(settings_refusal("zero=4"), HasSubstr("a stage from 0 to 3"));
  EXPECT_THAT(settings_refusal("sp=2"), HasSubstr("0 or 1"));
  EXPECT_THAT(settings_refusal("fsdp=2"), HasSubstr("dp, zero, shard, tp, sp, pp and v, not 'fsdp'"));
  EXPECT_THAT(settings_refusal(""), HasSubstr("not a list such as dp=64,zero=3"));
  EXPECT_THAT(settings_refusal("dp=2,,tp=2"), HasSubstr("not a list"));
  EXPECT_THROW(memory_map::precision_of("fp8"), std::invalid_argument);
  EXPECT_THROW(memory_map::moments_of("lion"), std::invalid_argument);
  EXPECT_THROW(memory_map::recompute_of("some"), std::invalid_argument);
  EXPECT_THROW(memory_map::kept_by_of("me"), std::invalid_argument);
}

}  // namespace
}  // namespace shardlings::grading
