#include "base/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace shardlings {
namespace {

TEST(Bf16, KeepsWhatItCanHold) {
  for (const float x : {0.0F, -0.0F, 1.0F, -2.5F, 0x1p-126F, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(float_of_bf16(bf16_of_float(x)), x);
  }
  EXPECT_TRUE(std::signbit(float_of_bf16(bf16_of_float(-0.0F))));
}

TEST(Bf16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(float_of_bf16(bf16_of_float(1 + 0x1p-8F)), 1.0F);                    // half way: down to the even one
  EXPECT_EQ(float_of_bf16(bf16_of_float(1 + 3 * 0x1p-8F)), 1 + 0x1p-6F);         // half way: up to the even one
  EXPECT_EQ(float_of_bf16(bf16_of_float(1 + 0x1p-8F + 0x1p-20F)), 1 + 0x1p-7F);  // beyond
  EXPECT_EQ(float_of_bf16(bf16_of_float(std::numeric_limits<float>::max())), std::numeric_limits<float>::infinity());
}

TEST(Bf16, KeepsWhatIsNotANumber) {
  EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(
      std::isnan(float_of_bf16(bf16_of_float(std::bit_cast<float>(0x7F800001U)))));  // its upper half alone is infinity
}

}  // namespace
}  // namespace shardlings
