// Pipelines and shards of whole models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "memory_map/examples.h"

namespace shardlings::grading {
namespace {

using testing::HasSubstr;

std::string refusal(const memory_map::Transformer& model, const memory_map::Parallel& parallel,
                    const memory_map::Training& training = mixed()) {
  try {
    memory_map::map_memory(model, parallel, training);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

memory_map::Parallel pipeline(int p, int v = 1) {
  memory_map::Parallel parallel;
  parallel.pp = p;
  parallel.virtual_stages = v;
  return parallel;
}

/// Korthikanti et al. 2022, section 4.2.3: p micro-batches in flight times L/p layers.
TEST(Stages, TheFirstKeepsAsMuchForAnyPipeline) {
  const memory_map::Transformer model = named("megatron-175b");
  const Bytes one = memory_map::kept_by_one_block(model, {}, mixed());
  for (const int p : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(memory_map::map_memory(model, pipeline(p), mixed()).stages[0].activations.blocks, 96 * one) << p;
  }
}

TEST(Stages, TheFirstOfAnInterleavedPipelineKeepsMore) {
  const memory_map::Transformer model = named("megatron-175b");
  const Bytes one = memory_map::kept_by_one_block(model, {}, mixed());
  const memory_map::MemoryMap map = memory_map::map_memory(model, pipeline(8, 3), mixed());
  // L (1 + (p - 1)/(p v)), with the paper's m for our v
  EXPECT_EQ(map.stages[0].activations.blocks, (96 + 96 * 7 / (8 * 3)) * one);
  EXPECT_EQ(map.stages[7].activations.blocks, (2 * 8 + 1) * 4 * one);
}

TEST(Stages, KeepFewerMicroBatchesFurtherDown) {
  const memory_map::MemoryMap map = memory_map::map_memory(gpt_of(8, 8, 2, 16, 4), pipeline(4), mixed());
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(map.stages[r].in_flight, 4 - static_cast<double>(r));
  memory_map::Training few = mixed();
  few.micro_batches = 2;
  EXPECT_EQ(memory_map::map_memory(gpt_of(8, 8, 2, 16, 4), pipeline(4), few).stages[0].in_flight, 2);
}

/// Narayanan et al. 2021, equation 2: P = 12 l h² (1 + 13/(12 h) + (V + s)/(12 l h)), without the final layer norm.
TEST(Stages, CountParametersLikeThePapers) {
  for (const char* name : {"gpt2", "gpt2-xl", "megatron-22b", "megatron-1t"}) {
    const memory_map::Transformer m = named(name);
    const Count formula =
        12 * m.layers * m.hidden * m.hidden + 13 * m.layers * m.hidden + (m.vocabulary + m.sequence) * m.hidden;
    EXPECT_EQ(memory_map::parameters_of(m), formula + 2 * m.hidden) << name;
    EXPECT_EQ(memory_map::map_memory(m, {}, mixed()).stages[0].parameters, memory_map::parameters_of(m)) << name;
  }
}

TEST(Stages, ShareParametersOverTensorAndPipelineRanks) {
  const memory_map::Transformer m = gpt_of(6, 24, 4, 40, 8);
  memory_map::Parallel parallel = pipeline(3);
  parallel.tp = 4;
  const memory_map::MemoryMap map = memory_map::map_memory(m, parallel, mixed());
  // Of a block, layer norms and biases of row-parallel matrices are on every rank.
  const Count block = 12 * 24 * 24 / 4 + (4 + 3) * 24 / 4 + (4 + 2) * 24;
  EXPECT_EQ(map.stages[1].parameters, 2 * block);
  EXPECT_EQ(map.stages[0].parameters, 2 * block + 40 * 24 / 4 + 8 * 24);
  EXPECT_EQ(map.stages[2].parameters, 2 * block + 40 * 24 / 4 + 2 * 24) << "a copy of the tied table";
}

TEST(Stages, GatherTwoUnitsWithZero3Alone) {
  const memory_map::Transformer m = gpt_of(2, 8, 2, 1000, 4);
  memory_map::Parallel parallel;
  parallel.dp = 4;
  const Count block = 12 * 64 + 13 * 8, embedding = 1004 * 8;
  for (int zero = 0; zero <= 3; ++zero) {
    parallel.zero = zero;
    const memory_map::StageMemory stage = memory_map::map_memory(m, parallel, mixed()).stages[0];
    EXPECT_EQ(stage.gathered, Bytes(zero == 3 ? 2 * (embedding + block) : 0)) << zero;
    EXPECT_EQ(stage.unreduced, Bytes(zero >= 2 ? 2 * (embedding + block) : 0)) << zero;
  }
  parallel.dp = 1;
  EXPECT_EQ(memory_map::map_memory(m, parallel, mixed()).stages[0].gathered, Bytes(0));
}

/// Korthikanti et al. 2022, equation 5 and section 4.3: extra of the first stage of a model that is not in a pipeline,
/// dropout mask s b h/t, final norm and head 2 s b h/t each, logits 4 s b V/t.
TEST(Stages, CountWhatEmbeddingAndHeadKeep) {
  const memory_map::Transformer m = gpt_of(2, 16, 4, 40, 8);
  memory_map::Parallel parallel;
  parallel.tp = 4;
  parallel.sp = true;
  memory_map::Training training = mixed();
  training.micro_batch = 3;
  const Count sbh = 8 * 3 * 16;
  EXPECT_EQ(memory_map::map_memory(m, parallel, training).stages[0].activations.ends,
            Bytes(sbh / 4 + 4 * sbh / 4 + 4 * 8 * 3 * 40 / 4));
}

TEST(Stages, RecomputeOneBlockAtATime) {
  const memory_map::Transformer m = gpt_of(5, 16, 4, 40, 8);
  memory_map::Training training = mixed();
  const Bytes all = memory_map::kept_by_one_block(m, {}, training);
  training.recompute = memory_map::Recompute::full;
  const memory_map::ActivationBytes bytes = memory_map::map_memory(m, {}, training).stages[0].activations;
  EXPECT_EQ(bytes.blocks, Bytes(5 * 2 * 8 * 16));
  EXPECT_EQ(bytes.recomputed, all - Bytes(2 * 8 * 16));
}

/// Zhao et al. 2023, section 3.2.2: with hybrid sharding a replica of the model is on each group of F ranks.
TEST(Stages, DivideByTheShardsAlone) {
  const memory_map::Transformer m = gpt_of(2, 16, 4, 48, 8);
  memory_map::Parallel hybrid, full;
  hybrid.dp = 16;
  hybrid.shard = full.dp = 4;
  hybrid.zero = full.zero = 3;
  EXPECT_EQ(memory_map::map_memory(m, hybrid, mixed()).fullest().total(),
            memory_map::map_memory(m, full, mixed()).fullest().total());
  hybrid.shard = 5;
  EXPECT_THAT(refusal(m, hybrid), HasSubstr("dp = 16 ranks cannot be divided into groups of shard = 5"));
}

TEST(Stages, RefuseWhatCannotBeDivided) {
  const memory_map::Transformer m = gpt_of(6, 24, 4, 40, 9);
  memory_map::Parallel parallel;
  parallel.tp = 3;
  EXPECT_THAT(refusal(m, parallel), HasSubstr("4 heads cannot be divided over tp = 3"));
  parallel.tp = 2;
  parallel.sp = true;
  EXPECT_THAT(refusal(m, parallel), HasSubstr("a sequence of 9 cannot be divided over tp = 2"));
  EXPECT_THAT(refusal(m, pipeline(7)), HasSubstr("6 blocks are too few for pp = 7"));
  EXPECT_THAT(refusal(m, pipeline(2, 2)), HasSubstr("6 blocks cannot be divided into pp x v = 4 chunks"));
  EXPECT_THAT(refusal(m, pipeline(1, 2)), HasSubstr("v needs a pipeline"));
  memory_map::Training endless = mixed();
  endless.sequence = 1 << 24;
  endless.micro_batch = 1 << 20;
  EXPECT_THAT(refusal(m, {}, endless), HasSubstr("beyond this calculator"));
}

TEST(Stages, KnowStatesOfAModelThatIsANumberOnly) {
  const memory_map::MemoryMap map = memory_map::map_memory(named("zero-1t"), pipeline(4), mixed());
  EXPECT_EQ(map.fullest().states.total(), Bytes(4'000'000'000'000));
  EXPECT_EQ(map.fullest().activations.total(), Bytes(0));
}

}  // namespace
}  // namespace shardlings::grading
