// What a block keeps, against the equations of Korthikanti et al. 2022 (arXiv 2205.05198), written down here anew.

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "memory_map/examples.h"

namespace shardlings::grading {
namespace {

/// Extents of one random case; t divides heads and sequence.
struct Sizes {
  Count s, b, h, a, t;
};

Sizes sizes_of(std::uint64_t seed) {
  const auto number = [&](std::uint32_t bound, std::uint64_t at) {
    return 1 + static_cast<Count>(below_at(bound, seed, at, 7));
  };
  const Count t = number(6, 0);
  const Count a = t * number(4, 1);
  return {t * number(40, 2), number(5, 3), a * number(16, 4), a, t};
}

Bytes kept(const Sizes& n, bool tp, bool sp, memory_map::Recompute recompute = memory_map::Recompute::off) {
  memory_map::Parallel parallel;
  if (tp) parallel.tp = static_cast<int>(n.t);
  parallel.sp = sp && parallel.tp > 1;
  memory_map::Training training = mixed();
  training.micro_batch = n.b;
  training.recompute = recompute;
  return memory_map::kept_by_one_block(gpt_of(3, n.h, static_cast<int>(n.a), 17, n.s), parallel, training);
}

class Korthikanti : public testing::TestWithParam<std::uint64_t> {
 protected:
  Sizes n_ = sizes_of(GetParam());
  Count sbh_ = n_.s * n_.b * n_.h;
  Count square_ = n_.a * n_.s * n_.s * n_.b;  // 5 a s/h times s b h is five of these
};

TEST_P(Korthikanti, Equation1) {
  EXPECT_EQ(kept(n_, false, false), Bytes(34 * sbh_ + 5 * square_));
}

TEST_P(Korthikanti, Equation2) {
  EXPECT_EQ(kept(n_, true, false), Bytes(10 * sbh_ + 24 * sbh_ / n_.t + 5 * square_ / n_.t));
}

TEST_P(Korthikanti, Equation4) {
  EXPECT_EQ(kept(n_, true, true), Bytes((34 * sbh_ + 5 * square_) / n_.t));
}

TEST_P(Korthikanti, SelectiveRecomputation) {
  EXPECT_EQ(kept(n_, true, true, memory_map::Recompute::selective), Bytes(34 * sbh_ / n_.t));
  EXPECT_EQ(kept(n_, true, false, memory_map::Recompute::selective), Bytes(10 * sbh_ + 24 * sbh_ / n_.t));
}

TEST_P(Korthikanti, FullRecomputation) {
  EXPECT_EQ(kept(n_, false, false, memory_map::Recompute::full), Bytes(2 * sbh_));
  EXPECT_EQ(kept(n_, true, false, memory_map::Recompute::full), Bytes(2 * sbh_));
}

INSTANTIATE_TEST_SUITE_P(RandomSizes, Korthikanti, testing::Range(std::uint64_t{0}, std::uint64_t{40}));

/// Section 5: without the inner part of attention GPT-3 keeps 70 % less, MT-NLG 65 %.
TEST(Activations, SelectiveRecomputationSavesWhatThePaperSays) {
  for (const auto& [name, percent] : {std::pair{"megatron-175b", 70}, std::pair{"mt-nlg-530b", 65}}) {
    const memory_map::Transformer model = named(name);
    memory_map::Training training = mixed();
    const Bytes all = memory_map::kept_by_one_block(model, {}, training);
    training.recompute = memory_map::Recompute::selective;
    const double saved = 1 - memory_map::kept_by_one_block(model, {}, training) / all;
    EXPECT_EQ(std::lround(100 * saved), percent) << name;
  }
}

TEST(Activations, OwnModelKeepsFloatsWithoutDropout) {
  memory_map::Training training;
  training.precision = memory_map::precision_of("f32");
  training.kept_by = memory_map::KeptBy::shardlings;
  training.micro_batch = 3;
  const Count s = 5, b = 3, h = 12, a = 4;
  EXPECT_EQ(memory_map::kept_by_one_block(gpt_of(1, h, a, 7, s), {}, training),
            Bytes(4 * (16 * s * b * h + a * s * s * b) + 16 * s * b));
}

}  // namespace
}  // namespace shardlings::grading
