#include "base/float8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace shardlings {
namespace {

/// The OCP 8-bit Floating Point specification's formula: (-1)^S 2^(E-7) (1 + M/8), 2^-6 M/8 where E
/// is 0, NaN where all bits but the sign are 1.
double by_formula(int code) {
  const double sign = (code & 0x80) != 0 ? -1 : 1;
  const int e = (code >> 3) & 15, m = code & 7;
  if (e == 15 && m == 7) return std::nan("");
  return e == 0 ? sign * std::ldexp(m, -9) : sign * std::ldexp(8 + m, e - 10);
}

/// The nearest of all codes, the even one of two that are as near, by looking at each of them.
int nearest_code(double x) {
  int best = 0;
  for (int code = 1; code < 0x7F; ++code) {
    const double distance = std::abs(std::abs(x) - by_formula(code));
    const double least = std::abs(std::abs(x) - by_formula(best));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 0x80 : 0);
}

TEST(E4m3, EachOfItsCodesIsTheFormulas) {
  for (int code = 0; code < 256; ++code) {
    const float found = float_of_e4m3(static_cast<std::uint8_t>(code));
    if (std::isnan(by_formula(code))) {
      EXPECT_TRUE(std::isnan(found)) << code;
      continue;
    }
    EXPECT_EQ(static_cast<double>(found), by_formula(code)) << code;
    EXPECT_EQ(std::signbit(found), code >= 128) << code;
    EXPECT_EQ(e4m3_of_float(found), code) << "a number that has a code becomes it";
  }
}

// The specification names these.
TEST(E4m3, HasTheRangeOfTheSpecification) {
  EXPECT_EQ(float_of_e4m3(0x7E), 448.0F);
  EXPECT_EQ(float_of_e4m3(0x08), 0x1p-6F) << "the least normal number";
  EXPECT_EQ(float_of_e4m3(0x07), 0.875F * 0x1p-6F);
  EXPECT_EQ(float_of_e4m3(0x01), 0x1p-9F);
  EXPECT_TRUE(std::isnan(float_of_e4m3(0x7F)) && std::isnan(float_of_e4m3(0xFF)));
}

TEST(E4m3, RoundsToNearestAndTiesToEven) {
  for (int code = 0; code < 0x7E; ++code) {
    const double low = by_formula(code), high = by_formula(code + 1), half = (low + high) / 2;
    for (const double x : {half, std::nextafter(static_cast<float>(half), 0.0F) * 1.0,
                           std::nextafter(static_cast<float>(half), 1e9F) * 1.0}) {
      EXPECT_EQ(e4m3_of_float(static_cast<float>(x)), nearest_code(x)) << x;
      EXPECT_EQ(e4m3_of_float(static_cast<float>(-x)), nearest_code(-x)) << -x;
    }
  }
  std::mt19937 random(1);
  std::lognormal_distribution<float> any(0, 4);
  for (int i = 0; i < 20000; ++i) {
    const float x = std::min(any(random), 448.0F) * (i % 2 == 0 ? 1.0F : -1.0F);
    ASSERT_EQ(e4m3_of_float(x), nearest_code(static_cast<double>(x))) << x;
  }
}

TEST(E4m3, SaturatesAndKeepsWhatIsNotANumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {448.1F, 464.0F, 480.0F, 1e30F, kInfinity}) {
    EXPECT_EQ(e4m3_of_float(x), 0x7E) << x;
    EXPECT_EQ(e4m3_of_float(-x), 0xFE) << -x;
  }
  EXPECT_EQ(e4m3_of_float(std::numeric_limits<float>::quiet_NaN()) & 0x7F, 0x7F);
  EXPECT_EQ(e4m3_of_float(std::bit_cast<float>(0x7F800001U)) & 0x7F, 0x7F)
      << "a NaN whose upper bits are an infinity's";
  EXPECT_EQ(e4m3_of_float(-0.0F), 0x80);
  EXPECT_EQ(e4m3_of_float(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(E8m0, EachOfItsCodesIsAPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const float scale = float_of_e8m0(static_cast<std::uint8_t>(code));
    EXPECT_EQ(static_cast<double>(scale), std::ldexp(1, code - 127)) << code;
    EXPECT_EQ(scale * reciprocal_of_e8m0(static_cast<std::uint8_t>(code)), 1.0F) << code;
    EXPECT_EQ(e8m0_of_float(scale), code);
  }
  EXPECT_TRUE(std::isnan(float_of_e8m0(0xFF)));
  EXPECT_TRUE(std::isnan(reciprocal_of_e8m0(0xFF)));
}

TEST(E8m0, RoundsUp) {
  EXPECT_EQ(float_of_e8m0(e8m0_of_float(std::nextafter(1.0F, 2.0F))), 2.0F);
  EXPECT_EQ(float_of_e8m0(e8m0_of_float(std::nextafter(1.0F, 0.0F))), 1.0F);
  EXPECT_EQ(float_of_e8m0(e8m0_of_float(0.0F)), 0x1p-127F);
  EXPECT_EQ(float_of_e8m0(e8m0_of_float(-3.0F)), 0x1p-127F);
  EXPECT_EQ(e8m0_of_float(std::numeric_limits<float>::max()), 254) << "2^128 is beyond it";
  EXPECT_EQ(e8m0_of_float(std::numeric_limits<float>::infinity()), 0xFF);
}

/// As the sentence says it, in double precision.
double least_power_with(double magnitude) {
  double scale = 0x1p-127;
  while (magnitude / scale > 448) scale *= 2;
  return scale;
}

TEST(E8m0, AScaleIsTheLeastWithWhichNothingIsBeyondTheLargestNumber) {
  const auto scale_for = [](float x) {
    return static_cast<double>(float_of_e8m0(scale_for_magnitude(std::bit_cast<std::uint32_t>(x))));
  };
  for (const float x : {0.0F, 448.0F, 449.0F, 1.75F, std::nextafter(1.75F, 2.0F), 1.0F, 0x1p-120F, 0x1p-149F, 3e38F}) {
    EXPECT_EQ(scale_for(x), least_power_with(static_cast<double>(x))) << x;
  }
  std::mt19937 random(2);
  std::lognormal_distribution<float> any(0, 20);
  for (int i = 0; i < 5000; ++i) {
    const float x = any(random);
    ASSERT_EQ(scale_for(x), least_power_with(static_cast<double>(x))) << x;
  }
  EXPECT_TRUE(std::isnan(scale_for(std::numeric_limits<float>::infinity())));
  EXPECT_TRUE(std::isnan(scale_for(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace shardlings
