// Numbers in 8 bits: codes and the scales of their blocks, of wholes and of parts, and who refuses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/harness_calls.h"
#include "base/parts.h"
#include "front/ops/on_rank.h"
#include "shardlings/puzzle.h"

namespace shardlings::ops_test {
namespace {

using testing::HasSubstr;

/// As they are: cast() refuses 8 bits.
Floats raw(ConstView view) {
  return detail::harness::values_of(view);
}

/// Scales and codes of numbers, and what they mean.
struct Scaled {
  Floats scales, codes, numbers;
  bool operator==(const Scaled&) const = default;
};

Scaled scaled(Rank& rank, ConstView x, DType back = DType::f32) {
  const Count blocks = scaling_blocks(x.size());
  Tensor scales = rank.empty(blocks, Kind::other, DType::e8m0);
  Tensor codes = rank.empty(x.size(), Kind::other, DType::e4m3), y = rank.empty(x.size(), Kind::other, back);
  block_scales(scales, x, 0);
  quantize(codes, x, scales, 0);
  dequantize(y, codes, scales, 0);
  return {raw(scales), raw(codes), get(y)};
}

/// The same by parts: scales of each part, the largest of them, codes of each part with those.
Scaled scaled_by_parts(Rank& rank, ConstView x, int parts) {
  const Count blocks = scaling_blocks(x.size());
  Tensor scales = rank.empty(blocks, Kind::other, DType::e8m0);
  Tensor codes = rank.empty(x.size(), Kind::other, DType::e4m3), y = rank.empty(x.size(), Kind::other);
  Floats largest(static_cast<std::size_t>(blocks), 0x1p-127F);
  const auto agree = [&](const Floats& of_part) {
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], of_part[i]);
  };
  for (int p = 0; p < parts; ++p) {
    const Range part = part_of(x.size(), parts, p);
    block_scales(scales, x.part(part), part.begin);
    agree(raw(scales));
  }
  for (Count b = 0; b < blocks; ++b) fill(scales.part({b, b + 1}), largest[static_cast<std::size_t>(b)]);
  for (int p = 0; p < parts; ++p) {
    const Range part = part_of(x.size(), parts, p);
    quantize(codes.part(part), x.part(part), scales, part.begin);
    dequantize(y.part(part), codes.part(part), scales, part.begin);
  }
  return {largest, raw(codes), get(y)};
}

TEST(Scaled, NumbersAreAsNearAsTheFormatAllows) {
  on_rank([](Rank& rank) {
    Source source(1);
    for (int trial = 0; trial < 40; ++trial) {
      const Count n = source.integer(1, 200);
      Doubles x = source.numbers(n, std::pow(10.0, static_cast<double>(source.integer(-6, 6))));
      if (trial % 3 == 0) x[0] *= 1000;
      const Tensor given = put(rank, n, x);
      const Scaled found = scaled(rank, given);
      const Floats exact = get(given);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double scale = static_cast<double>(found.scales[i / 32]), want = static_cast<double>(exact[i]);
        EXPECT_LE(std::abs(static_cast<double>(found.codes[i])), 448);
        EXPECT_EQ(static_cast<double>(found.numbers[i]), scale * static_cast<double>(found.codes[i]));
        // Half of a step: 2^-4 of the number, or of a step of the subnormal numbers.
        EXPECT_LE(std::abs(static_cast<double>(found.numbers[i]) - want),
                  std::max(std::abs(want) * 0x1p-4, scale * 0x1p-10))
            << want;
      }
      for (std::size_t b = 0; b < found.scales.size(); ++b) {
        double largest = 0;
        for (std::size_t i = 32 * b; i < std::min(exact.size(), 32 * (b + 1)); ++i) {
          largest = std::max(largest, std::abs(static_cast<double>(exact[i])));
        }
        EXPECT_GT(largest / static_cast<double>(found.scales[b]), 224) << "a smaller scale would do, too";
      }
    }
  });
}

TEST(Scaled, PartsWithTheLargestScalesAreTheWhole) {
  on_rank([](Rank& rank) {
    Source source(2);
    for (int parts = 1; parts <= 9; ++parts) {
      for (const Count n : {Count{1}, Count{31}, Count{32}, Count{33}, Count{100}, source.integer(1, 700)}) {
        const Tensor x = put(rank, n, source.numbers(n, 3.0));
        EXPECT_EQ(scaled_by_parts(rank, x, parts), scaled(rank, x)) << n << " elements in " << parts << " parts";
      }
    }
  });
}

TEST(Scaled, Bf16HoldsEveryNumberOfEightBits) {
  on_rank([](Rank& rank) {
    Source source(3);
    const Tensor x = put(rank, 500, source.numbers(500, 0.02));
    EXPECT_EQ(scaled(rank, x, DType::bf16), scaled(rank, x, DType::f32));
    const Tensor narrow = cast(x, DType::bf16);
    EXPECT_EQ(scaled(rank, narrow), scaled(rank, cast(narrow, DType::f32))) << "codes of bf16 are those of its numbers";
  });
}

TEST(Scaled, WhatIsNotFiniteMakesItsBlockNan) {
  on_rank([](Rank& rank) {
    Doubles x(96, 1.0);
    x[40] = INFINITY;
    x[70] = NAN;
    const Scaled found = scaled(rank, put(rank, 96, x));
    EXPECT_EQ(found.numbers[31], 1.0F);
    for (std::size_t i = 32; i < 96; ++i) EXPECT_TRUE(std::isnan(found.numbers[i])) << i;
  });
}

TEST(Scaled, ZerosHaveTheLeastScale) {
  on_rank([](Rank& rank) {
    const Scaled found = scaled(rank, rank.zeros(33, Kind::other));
    EXPECT_EQ(found.scales, Floats(2, 0x1p-127F));
    EXPECT_EQ(found.numbers, Floats(33, 0.0F));
  });
}

TEST(Scaled, EightBitsAreStoredAndMovedAsAnyOther) {
  on_rank([](Rank& rank) {
    Tensor codes = rank.empty({2, 3}, Kind::other, DType::e4m3), scales = rank.zeros(3, Kind::other, DType::e8m0);
    EXPECT_TRUE(std::isnan(raw(codes)[0])) << "fresh memory is NaN";
    EXPECT_EQ(raw(scales), Floats(3, 0x1p-127F));
    fill(codes, 1.1F);
    fill(scales, 3.0F);
    EXPECT_EQ(raw(codes), Floats(6, 1.125F)) << "the nearest of its numbers";
    EXPECT_EQ(raw(scales), Floats(3, 4.0F)) << "rounded up";
    fill(codes.part({1, 2}), -500);
    EXPECT_EQ(raw(clone(codes)), (Floats{1.125F, -448, 1.125F, 1.125F, 1.125F, 1.125F}));
    EXPECT_EQ(raw(slice_cols(codes, {1, 2})), (Floats{-448, 1.125F}));
    EXPECT_EQ(raw(concat_rows({scales, scales})).size(), 6U);
    Tensor copied = rank.empty(6, Kind::other, DType::e4m3);
    copy(copied, codes);
    EXPECT_EQ(raw(copied), raw(codes));
  });
}

TEST(Scaled, EightBitsTakeOneByte) {
  const auto report = on_rank([](Rank& rank) {
    rank.empty(1000, Kind::parameter, DType::e4m3);
    rank.empty(32, Kind::buffer, DType::e8m0);
  });
  EXPECT_EQ(report.ranks[0].counters.peak, Bytes(1000));
}

Tensor zeros_of(Rank& rank, Shape shape, DType dtype = DType::f32) {
  return rank.zeros(shape, Kind::other, dtype);
}

void expect_refusal(const std::function<void(Rank&)>& body, const char* sentence) {
  EXPECT_THAT(error_of(body), HasSubstr(sentence));
}

TEST(Scaled, NobodyComputesWithEightBits) {
  using enum DType;
  expect_refusal([](Rank& r) { cast(zeros_of(r, 4, e4m3), f32); },
                 "cast: e4m3 is 8 bits, which mean a number only together");
  expect_refusal([](Rank& r) { cast(zeros_of(r, 4), e4m3); }, "cast: e4m3 is 8 bits");
  expect_refusal([](Rank& r) { cast_into(zeros_of(r, 4, e8m0), zeros_of(r, 4)); }, "cast_into: e8m0 is 8 bits");
  expect_refusal([](Rank& r) { add(zeros_of(r, 4, e4m3), zeros_of(r, 4, e4m3)); }, "add: e4m3 is 8 bits");
  expect_refusal([](Rank& r) { scale(zeros_of(r, 4, e4m3), 2); },
                 "scale: y is e4m3, but only f32 and bf16 can be computed with");
  expect_refusal(
      [](Rank& r) {
        matmul(zeros_of(r, {2, 2}, e4m3), zeros_of(r, {2, 2}, e4m3), nn);
      },
      "is e4m3, but only f32");
}

TEST(Scaled, MessagesSayWhatDoesNotFit) {
  using enum DType;
  expect_refusal([](Rank& r) { block_scales(zeros_of(r, 2), zeros_of(r, 40), 0); },
                 "block_scales: scales is f32, but must be e8m0");
  expect_refusal([](Rank& r) { block_scales(zeros_of(r, 1, e8m0), zeros_of(r, 40), 0); },
                 "block_scales: x has elements 0 to 39, which reach into 2 blocks of 32, but there are 1 scales");
  expect_refusal([](Rank& r) { block_scales(zeros_of(r, 2, e8m0), zeros_of(r, 40), 30); },
                 "x has elements 30 to 69, which reach into 3 blocks of 32, but there are 2 scales");
  expect_refusal([](Rank& r) { block_scales(zeros_of(r, 2, e8m0), zeros_of(r, 4), -1); },
                 "the first element's number is -1, but must not be negative");
  expect_refusal([](Rank& r) { quantize(zeros_of(r, 4), zeros_of(r, 4), zeros_of(r, 1, e8m0), 0); },
                 "quantize: y is f32, but must be e4m3");
  expect_refusal([](Rank& r) { quantize(zeros_of(r, 5, e4m3), zeros_of(r, 4), zeros_of(r, 1, e8m0), 0); },
                 "quantize: y is (5), x is (4): the sizes 5 and 4 differ");
  expect_refusal([](Rank& r) { dequantize(zeros_of(r, 4), zeros_of(r, 4), zeros_of(r, 1, e8m0), 0); },
                 "dequantize: codes is f32, but must be e4m3");
  expect_refusal([](Rank& r) { dequantize(zeros_of(r, 4, i32), zeros_of(r, 4, e4m3), zeros_of(r, 1, e8m0), 0); },
                 "dequantize: y is i32, but only f32 and bf16 can be computed with");
}

/// How long a program takes where a byte of the device's memory takes a nanosecond, arithmetic and launches none.
std::int64_t time_taken(const std::function<void(Rank&)>& body) {
  world::Options options;
  options.cluster.uses_table = false;
  options.cluster.roofline = {1e30, 1e30, 1e9, Nanos(0)};
  return world::run(options, body).ranks[0].counters.end.value();
}

TEST(Scaled, CostsTheBytesThatAreReadAndWritten) {
  using enum DType;
  EXPECT_EQ(time_taken([](Rank& r) { block_scales(zeros_of(r, 4, e8m0), zeros_of(r, 100), 0); }), 400 + 4);
  EXPECT_EQ(time_taken([](Rank& r) { quantize(zeros_of(r, 100, e4m3), zeros_of(r, 100), zeros_of(r, 4, e8m0), 0); }),
            100 + 400 + 4);
  EXPECT_EQ(
      time_taken([](Rank& r) { dequantize(zeros_of(r, 100, bf16), zeros_of(r, 100, e4m3), zeros_of(r, 9, e8m0), 60); }),
      200 + 100 + 4)
      << "of nine scales, those of blocks 1 to 4";
}

}  // namespace
}  // namespace shardlings::ops_test
