// When a rank dies.
#include "front/rank/doom.h"

#include <gtest/gtest.h>

namespace shardlings::front {
namespace {

TEST(Doom, CountsTheCallsThatGetANumber) {
  Doom doom({{0, {}, 3}}, 0);
  doom.begin();
  EXPECT_FALSE(doom.strikes(Nanos(1), true));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(doom.strikes(Nanos(2), false)) << "survivors() asks for each of many ranks";
  EXPECT_FALSE(doom.strikes(Nanos(3), true));
  EXPECT_TRUE(doom.strikes(Nanos(4), true));
  EXPECT_EQ(doom.died(), Nanos(4));
  EXPECT_TRUE(doom.strikes(Nanos(5), false)) << "the dead stay dead";
}

}  // namespace
}  // namespace shardlings::front
