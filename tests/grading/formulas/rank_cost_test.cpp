// What a rank of some puzzles needs and sends, worked out by hand for one small case of each.
#include <gtest/gtest.h>

#include "grading/formulas/divided_gpt.h"
#include "grading/formulas/mixed_training.h"
#include "grading/formulas/ring_cost.h"
#include "grading/formulas/sequence_mlp.h"

namespace shardlings::grading::formulas {
namespace {

cases::Case ring_of(int ranks, int groups, double elements) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.numbers = {{"elements", elements}, {"groups", groups}};
  kase.cluster.links[0] = {Nanos(1000), 1e9};
  return kase;
}

TEST(RingCost, OfEqualPartsIsThatOfPatarasukAndYuan) {
  const RingCost cost(ring_of(4, 1, 4000));
  EXPECT_EQ(cost.steps, 6);
  EXPECT_EQ(cost.sent().value(), Bytes(2 * 3 * 4000));
  EXPECT_EQ(cost.peak().value(), Bytes(16000 + 4000));
  EXPECT_EQ(cost.time().value(), Nanos(6 * (1000 + 4000)));
}

TEST(RingCost, OfUnevenPartsIsThatOfTheWorstRank) {
  const RingCost cost(ring_of(6, 2, 7));  // two rings of 3, with parts of 3, 2 and 2 numbers
  EXPECT_EQ(cost.members, 3);
  EXPECT_EQ(cost.sent().value(), Bytes(2 * (28 - 8))) << "all but the shortest part, twice";
  EXPECT_EQ(cost.peak().value(), Bytes(28 + 12));
  EXPECT_EQ(cost.time().value(), Nanos(4 * (1000 + 12)));
}

TEST(MixedPeak, IsSixteenBytesAWeightAndActivationsOfTwo) {
  cases::Case kase;
  kase.ranks = 2;
  kase.batch = 1;
  kase.model.layers = 1;
  kase.model.hidden = 4;
  kase.model.outputs = 2;
  kase.model.sequence = 3;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  const std::int64_t weights = 4 * 2 + 2, tokens = 3;
  EXPECT_EQ(mixed_peak(kase).value().value(), 16 * weights + mixed_given_bytes(kase)  //
                                                  + 2 * tokens * 4                    // the input
                                                  + 2 * tokens * (2 + 4));            // gradients of logits and input
  EXPECT_EQ(mixed_wire_bytes(kase, 0).value(), Bytes(2 * weights)) << "2 (N-1)/N of 2 bytes each";
}

TEST(DividedGpt, HoldsLogitsOfItsVocabularyAtThePeak) {
  cases::Case kase;
  kase.ranks = 2;
  kase.batch = 1;
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = 1;
  kase.model.hidden = 4;
  kase.model.outputs = 6;
  kase.model.heads = 2;
  kase.model.sequence = 3;
  const DividedGpt gpt(kase);
  const std::int64_t x = 4 * 3 * 4, row = 4 * 3;  // s b h numbers, s b numbers
  EXPECT_EQ(divided_peak(gpt).at_head.value(), Bytes(row * 3 + x + 3 * row)) << "logits/t, grad_x, 3 rows";
  EXPECT_EQ(divided_wire_bytes(gpt).value(), Bytes(6 * x + 3 * row)) << "2 (t-1)/t is 1: 4 L + 2 sums, 3 for the loss";
}

/// Two ranks, one block of width 4, 3 positions, 6 tokens.
cases::Case small_gpt(const char* part) {
  cases::Case kase;
  kase.ranks = 2;
  kase.batch = 1;
  kase.numbers = {{part, 1}};
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = 1;
  kase.model.hidden = 4;
  kase.model.outputs = 6;
  kase.model.heads = 2;
  kase.model.sequence = 3;
  return kase;
}

TEST(DividedGpt, OfAttentionAloneHoldsTheWholeHead) {
  const DividedGpt gpt(small_gpt("only_attention"));
  const std::int64_t x = 4 * 3 * 4, row = 4 * 3;
  EXPECT_EQ(divided_peak(gpt).at_head.value(), Bytes(row * 6 + x + 2 * row)) << "logits, normed x, statistics";
  EXPECT_EQ(divided_wire_bytes(gpt).value(), Bytes(4 * x)) << "2 (t-1)/t is 1: 4 L sums";
  EXPECT_EQ(divided_calls(gpt).size(), 4U);
  EXPECT_EQ(divided_products(gpt), 12);
}

TEST(DividedGpt, OfTheVocabularyAloneHoldsWholeBlocks) {
  const DividedGpt gpt(small_gpt("only_vocabulary"));
  EXPECT_EQ(gpt.width_part(), 4);
  EXPECT_EQ(gpt.vocabulary_part(), 3);
  const std::int64_t x = 4 * 3 * 4, row = 4 * 3;
  EXPECT_EQ(divided_wire_bytes(gpt).value(), Bytes(2 * x + 3 * row)) << "2 (t-1)/t is 1: two sums, 3 for the loss";
  EXPECT_EQ(divided_calls(gpt).size(), 5U);
  EXPECT_EQ(divided_products(gpt), 3);
}

TEST(SequenceMlp, SendsFiveHalvesOfARingForEachMicroBatch) {
  cases::Case kase;
  kase.ranks = 3;
  kase.batch = 1;
  kase.micro_batches = 2;
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = 1;
  kase.model.hidden = 6;
  kase.model.heads = 1;
  kase.model.sequence = 3;
  const SequenceMlp mlp(kase);
  const std::int64_t x = 4 * 3 * 6, z = 4 * 3 * 8;  // 24 columns of the middle are divided by 3
  EXPECT_EQ(sequence_wire_bytes(mlp).value(), Bytes(2 * 5 * x * 2 / 3 + 3 * 2 * 24 * 2 / 3));
  const std::int64_t weights = 4 * (8 * (2 * 6 + 1) + 3 * 6), statistics = 2 * 4;
  EXPECT_EQ(sequence_peak(mlp).planned.value(),
            Bytes(2 * weights + 2 * 2 * x / 3 + 2 * (x / 3 + statistics + 2 * z) + x));
  EXPECT_EQ(sequence_peak(mlp).room.value(), Bytes(2 * z));
}

}  // namespace
}  // namespace shardlings::grading::formulas
