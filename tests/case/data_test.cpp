#include "case/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "front/model/on_model.h"

namespace shardlings::model_test {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(Random, PhiloxGivesThePublishedNumbers) {
  // Known answers that come with the paper's software (D. E. Shaw Research, Random123, kat_vectors).
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NumbersAreNormalAndDifferByStream) {
  constexpr int kCount = 40000;
  double sum = 0, squares = 0, product = 0;
  int beyond = 0;
  for (std::uint64_t block = 0; block < kCount / 4; ++block) {
    const auto numbers = normals(3, block), others = normals(3, block, 1);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto x = static_cast<double>(numbers[i]);
      sum += x;
      squares += x * x;
      product += x * static_cast<double>(others[i]);
      beyond += std::abs(x) > 1.959964 ? 1 : 0;
    }
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.03);
  EXPECT_NEAR(product / kCount, 0, 0.02);
  EXPECT_NEAR(beyond, 0.05 * kCount, 0.006 * kCount);
}

TEST(Random, BelowReachesEveryNumber) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(below_at(7, 1, i));
  EXPECT_EQ(seen, (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

// Word x stands for x / 2^32: of a rate below 2^-8, r 2^32 need not be whole.
TEST(Random, WordsBelowARateAreThoseThatStandForLess) {
  for (const float rate : {0.0F, 1e-10F, 1e-3F, 0.3F, 1.0F}) {
    const std::uint64_t words = words_below(rate);
    EXPECT_GE(static_cast<double>(words) * 0x1p-32, static_cast<double>(rate));
    EXPECT_LT((static_cast<double>(words) - 1) * 0x1p-32, static_cast<double>(rate));
  }
}

TEST(Data, WeightsDependOnTheSeedAndTheLayer) {
  cases::Case kase = case_of(mlp(3, 8, 8, 4), 2);
  const auto weights = cases::weights_of(kase, 0);
  EXPECT_EQ(weights.size(), 72U);
  EXPECT_EQ(weights, cases::weights_of(kase, 0));
  EXPECT_NE(weights, cases::weights_of(kase, 1));
  kase.seed = 2;
  EXPECT_NE(weights, cases::weights_of(kase, 0));
}

TEST(Data, NormsAreNearOneAndBiasesNotZero) {
  const cases::Case kase = case_of(gpt(1, 32, 4, 10, 4), 2);
  const auto structure = model::make_structure(kase.model);
  const auto weights = cases::weights_of(kase, 1);
  const auto values = [&](const char* name) {
    const Range range = entry_of(structure.layers[1], name).range;
    return std::vector<float>(weights.begin() + range.begin, weights.begin() + range.end);
  };
  for (const float v : values("ln1.weight")) EXPECT_NEAR(v, 1, 0.5);
  double squares = 0;
  for (const float v : values("fc.bias")) squares += static_cast<double>(v * v);
  EXPECT_NEAR(std::sqrt(squares / 128), 0.1, 0.05);
  squares = 0;
  for (const float v : values("fc2.weight")) squares += static_cast<double>(v * v);
  EXPECT_NEAR(squares / 32, 1, 0.3);  // fan-in 128: each output has variance 1
}

TEST(Data, MicroBatchesOfRanksDiffer) {
  cases::Case kase = case_of(gpt(1, 8, 2, 50, 6), 3, 2);
  kase.ranks = 2;
  const auto data = cases::micro_of(kase, 0, 0);
  EXPECT_EQ(data.ids.size(), 18U);
  EXPECT_TRUE(data.inputs.empty());
  EXPECT_EQ(data.tokens, 18);
  for (const std::int32_t id : data.ids) EXPECT_TRUE(id >= 0 && id < 50);
  EXPECT_NE(data.ids, cases::micro_of(kase, 0, 1).ids);
  EXPECT_NE(data.ids, cases::micro_of(kase, 1, 0).ids);
  EXPECT_NE(data.targets, data.ids);
  EXPECT_EQ(cases::tokens_of_step(kase), 4 * 18);
}

TEST(Data, UnevenTokensDifferBetweenMicroBatchesAndRanks) {
  cases::Case kase = case_of(mlp(2, 4, 5, 8), 2, 3);
  kase.ranks = 3;
  kase.uneven_tokens = true;
  Count all = 0;
  std::set<Count> by_micro, by_rank;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    Count of_rank = 0;
    for (int micro = 0; micro < kase.micro_batches; ++micro) {
      const auto data = cases::micro_of(kase, rank, micro);
      EXPECT_EQ(std::count_if(data.targets.begin(), data.targets.end(), [](int t) { return t >= 0; }), data.tokens);
      EXPECT_GE(data.tokens, 1);
      by_micro.insert(data.tokens);
      of_rank += data.tokens;
    }
    by_rank.insert(of_rank);
    all += of_rank;
  }
  EXPECT_EQ(by_micro.size(), 9U);
  EXPECT_EQ(by_rank.size(), 3U);
  EXPECT_EQ(cases::tokens_of_step(kase), all);
}

TEST(Data, TheFirstBatchMayBeAllPadding) {
  cases::Case kase = case_of(mlp(2, 4, 5, 8), 2, 2);
  kase.ranks = 2;
  kase.empty_batch = true;
  for (int micro = 0; micro < 2; ++micro) {
    const auto data = cases::micro_of(kase, 0, micro);
    EXPECT_EQ(data.tokens, 0);
    for (const int target : data.targets) EXPECT_EQ(target, -1);
  }
  EXPECT_EQ(cases::tokens_of_step(kase), 2 * 16);
}

TEST(Data, IntegersAreWholeAndSmallAndDifferByRank) {
  const cases::Case kase = case_of(mlp(1, 2, 2, 2), 1);
  const auto values = cases::integers_of(kase, 0, 100);
  EXPECT_EQ(values.size(), 100U);
  for (const float v : values) EXPECT_TRUE(v == std::round(v) && std::abs(v) <= 9);
  EXPECT_NE(values, cases::integers_of(kase, 1, 100));
}

}  // namespace
}  // namespace shardlings::model_test
