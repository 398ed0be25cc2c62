// Dropout: which elements are dropped and what becomes of the others, parts against the whole, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "front/ops/plain.h"

namespace shardlings::ops_test {
namespace {

constexpr Count kSequence = 5, kBatch = 6, kWidth = 7;
constexpr std::uint64_t kSeed = 0x123456789ABCDEF0U, kStream = ~std::uint64_t{0} - 4;

/// Sequence by sequence, as the lessons number them.
Draws of_whole(Count first = 0) {
  return {kSeed, kStream, first, kWidth, kSequence * kWidth};
}

Tensor ones(Rank& rank, const Shape& shape, DType dtype = DType::f32) {
  Tensor x = rank.empty(shape, Kind::activation, dtype);
  fill(x, 1);
  return x;
}

TEST(Dropout, DropsTheElementsWhoseNumberIsBelowTheRate) {
  on_rank([](Rank& rank) {
    constexpr float kRate = 0.3F;
    constexpr Count kFirst = (Count{1} << 40) + 3;
    Source source(3);
    const Doubles x = source.numbers(kSequence * kBatch * kWidth);
    Tensor y = put(rank, {kSequence, kBatch, kWidth}, x);
    dropout(y, kRate, of_whole(kFirst));
    const Floats found = get(y);
    const float factor = 1 / (1 - kRate);
    for (Count row = 0; row < kSequence * kBatch; ++row) {
      for (Count k = 0; k < kWidth; ++k) {
        const Count i = row / kBatch, j = row % kBatch, number = kFirst + (j * kSequence + i) * kWidth + k;
        const double drawn = random_word_at(kSeed, static_cast<std::uint64_t>(number), kStream) * 0x1p-32;
        const auto at = plain::at(row * kWidth + k);
        const float expected = drawn < static_cast<double>(kRate) ? 0.0F : static_cast<float>(x[at]) * factor;
        EXPECT_EQ(found[at], expected) << "element " << i << ", " << j << ", " << k;
      }
    }
  });
}

TEST(Dropout, DropsTheShareThatTheRateSays) {
  on_rank([](Rank& rank) {
    constexpr Count kMany = 200'000;
    for (const float rate : {0.0F, 0.1F, 0.75F}) {
      Tensor x = ones(rank, {kMany, 1, 1});
      dropout(x, rate, {.seed = 7, .by_position = 1});
      const Floats found = get(x);
      const auto share = static_cast<double>(std::count(found.begin(), found.end(), 0.0F)) / kMany;
      const double deviation = std::sqrt(rate * (1 - rate) / static_cast<double>(kMany));
      EXPECT_NEAR(share, rate, 5 * deviation);
    }
  });
}

/// The elements that a part of the sequences and of the columns has of the whole.
Floats part_of_whole(const Floats& whole, Range sequences, Range columns) {
  Floats part;
  for (Count i = 0; i < kSequence; ++i) {
    for (Count j = sequences.begin; j < sequences.end; ++j) {
      for (Count k = columns.begin; k < columns.end; ++k) {
        part.push_back(whole[plain::at((i * kBatch + j) * kWidth + k)]);
      }
    }
  }
  return part;
}

TEST(Dropout, DrawsForAPartWhatItDrawsForTheWhole) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    on_rank([&](Rank& rank) {
      Tensor whole = ones(rank, {kSequence, kBatch, kWidth}, dtype);
      dropout(whole, 0.5F, of_whole());
      const Floats want = get(dtype == DType::f32 ? clone(whole) : cast(whole, DType::f32));
      for (const Range sequences : {Range{0, 6}, Range{0, 2}, Range{2, 3}, Range{3, 6}, Range{4, 4}}) {
        for (const Range columns : {Range{0, 7}, Range{0, 3}, Range{3, 4}, Range{4, 7}}) {
          Tensor part = ones(rank, {kSequence, sequences.size(), columns.size()}, dtype);
          dropout(part, 0.5F, of_whole(sequences.begin * kSequence * kWidth + columns.begin));
          const Floats found = get(dtype == DType::f32 ? clone(part) : cast(part, DType::f32));
          EXPECT_EQ(found, part_of_whole(want, sequences, columns))
              << "sequences from " << sequences.begin << ", columns from " << columns.begin;
        }
      }
    });
  }
}

TEST(Dropout, SeedsAndStreamsAreApart) {
  on_rank([](Rank& rank) {
    const auto drawn = [&](std::uint64_t seed, std::uint64_t stream) {
      Tensor x = ones(rank, {1, 1, 64});
      dropout(x, 0.5F, {.seed = seed, .stream = stream});
      return get(x);
    };
    EXPECT_EQ(drawn(1, 2), drawn(1, 2));
    EXPECT_NE(drawn(1, 2), drawn(2, 2));
    EXPECT_NE(drawn(1, 2), drawn(1, 3));
    EXPECT_NE(drawn(1, 2), drawn(2, 1));
  });
}

void expect_refusal(Shape shape, float rate, Draws draws, const char* sentence) {
  const std::string error = error_of([&](Rank& rank) { dropout(rank.zeros(shape, Kind::activation), rate, draws); });
  EXPECT_THAT(error, testing::HasSubstr(sentence));
}

TEST(Dropout, SaysWhatItCannotTake) {
  expect_refusal({4, 8}, 0.5F, {}, "dropout: x is (4, 8), but must be (s, b, w)");
  expect_refusal({2, 2, 2}, 1, {}, "dropout: the rate is 1, but must be at least 0 and less than 1");
  expect_refusal({2, 2, 2}, -0.5F, {}, "dropout: the rate is -0.5, but");
  expect_refusal({2, 2, 2}, std::numeric_limits<float>::quiet_NaN(), {}, "dropout: the rate is nan, but");
  expect_refusal({2, 2, 2}, 0.5F, {.first = -1}, "first, by_position and by_sequence are -1, 0 and 0, but must not");
  expect_refusal({2, 2, 2}, 0.5F, {.by_sequence = Count{1} << 59}, "numbers must be less than 2^60");
}

}  // namespace
}  // namespace shardlings::ops_test
