// Which case a wish makes.
#include "simulation/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "base/file.h"

namespace shardlings::simulation {
namespace {

using testing::HasSubstr;
using testing::Not;

const Files kFiles = {SHARDLINGS_SOURCE_FOLDER "/runtime/memory_map/models.toml",
                      SHARDLINGS_SOURCE_FOLDER "/runtime/front/clock/clusters",
                      SHARDLINGS_SOURCE_FOLDER "/runtime/front/clock/stacks"};

cases::Manifest puzzle(const std::string& id) {
  return cases::load_manifest(std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + id, kFiles.clusters);
}

const cases::Manifest& grid() {
  static const cases::Manifest manifest = puzzle("33_three_d_parallel");
  return manifest;
}

std::string refusal(const cases::Manifest& of, const Wish& wish) {
  try {
    case_of(of, wish, kFiles);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Layout, SetsRanksNumbersAndBatches) {
  const cases::Case kase = case_of(grid(), {.parallel = "tp=8,pp=16,dp=128,v=2", .model = "gpt3-175b"}, kFiles);
  EXPECT_EQ(kase.ranks, 16'384);
  EXPECT_EQ(kase.integer("t"), 8);
  EXPECT_EQ(kase.integer("p"), 16);
  EXPECT_EQ(kase.integer("d"), 128);
  EXPECT_EQ(kase.integer("v"), 2);
  EXPECT_EQ(kase.num_batches(), 128) << "each replica has its own data";
  EXPECT_EQ(kase.batch_of(129), 1) << "t p ranks share a batch";
}

TEST(Layout, AxesThatAreNotNamedAreOne) {
  const cases::Case kase = case_of(grid(), {.parallel = "dp=3"}, kFiles);
  EXPECT_EQ(kase.ranks, 3);
  EXPECT_EQ(kase.integer("t"), 1);
  EXPECT_EQ(kase.integer("v"), 1);
}

TEST(Layout, OfOneAxisTheRanksAreEnough) {
  EXPECT_EQ(case_of(puzzle("09_data_parallel"), {.ranks = 4096}, kFiles).num_batches(), 4096);
  const cases::Case pipeline = case_of(puzzle("20_one_f_one_b"), {.ranks = 64, .model = "gpt3-175b"}, kFiles);
  EXPECT_EQ(pipeline.ranks, 64);
  EXPECT_EQ(pipeline.num_batches(), 1) << "all stages work on the same data";
}

TEST(Layout, TakesSizesOfNamedModelsAndKeepsTheOptimizer) {
  const cases::Case kase = case_of(grid(), {.model = "llama-405b", .cluster = "dgx_h100"}, kFiles);
  EXPECT_EQ(kase.model.layers, 126);
  EXPECT_EQ(kase.model.hidden, 16'384);
  EXPECT_EQ(kase.model.outputs, 128'256);
  EXPECT_EQ(kase.model.optimizer, model::ModelSpec::Optimizer::adam);
  EXPECT_EQ(kase.cluster.name, "dgx_h100");
  EXPECT_EQ(kase.capacity, kase.cluster.device_memory);
}

TEST(Layout, TakesPrecisionAndMeasuredSpeeds) {
  EXPECT_FALSE(case_of(grid(), {.parallel = "dp=2"}, kFiles).cluster.mixed);
  const cases::Case mixed = case_of(grid(), {.cluster = "dgx_a100", .precision = "mixed"}, kFiles);
  EXPECT_TRUE(mixed.cluster.mixed);
  EXPECT_TRUE(mixed.cluster.efficiency.matmul);
  EXPECT_FALSE(case_of(grid(), {.cluster = "dgx_a100", .ideal = true}, kFiles).cluster.efficiency.matmul);
  const cases::Case again = cases::case_from_json(cases::to_json(mixed));
  EXPECT_TRUE(again.cluster.mixed);
  EXPECT_EQ(again.cluster.efficiency.matmul, mixed.cluster.efficiency.matmul);
  EXPECT_EQ(again.cluster.trees.hop_between, mixed.cluster.trees.hop_between);
}

TEST(Layout, GradientsMayKeepTheirBitsInMixedPrecision) {
  const cases::Case kase = case_of(grid(), {.cluster = "dgx_a100", .precision = "mixed-f32-grads"}, kFiles);
  EXPECT_TRUE(kase.cluster.mixed && kase.cluster.f32_gradients);
  EXPECT_TRUE(cases::case_from_json(cases::to_json(kase)).cluster.f32_gradients);
  EXPECT_FALSE(case_of(grid(), {.cluster = "dgx_a100", .precision = "mixed"}, kFiles).cluster.f32_gradients);
}

TEST(Layout, LlamasHaveBlocksOfTheirOwn) {
  const WishedCase ours = wished_case(grid(), {.model = "llama-70b", .cluster = "dgx_h100"}, kFiles);
  EXPECT_EQ(ours.kase.model.blocks, model::ModelSpec::Blocks::llama);
  EXPECT_EQ(ours.kase.execution.stack->name, "ours");
  EXPECT_FALSE(ours.kase.cluster.mixed);
  const cases::Case again = cases::case_from_json(cases::to_json(ours.kase));
  EXPECT_EQ(again.model.key_value_heads, 8);
  EXPECT_EQ(again.model.wide, 28'672);
  EXPECT_EQ(again.model.blocks, model::ModelSpec::Blocks::llama);
  const auto rows = [&](const char* model) {
    return case_of(grid(), {.model = model, .cluster = "dgx_h100", .stack = "torch-flash"}, kFiles)
        .execution.stack->forward.size();
  };
  EXPECT_EQ(rows("llama-8b"), rows("llama-70b-as-gpt") + 1) << "a GPT does not turn positions into queries";
  EXPECT_THAT(refusal(grid(), {.model = "llama-8b", .cluster = "dgx_a100", .stack = "megatron-2022"}),
              HasSubstr("known for the blocks of a GPT alone"));
  EXPECT_THAT(refusal(grid(), {.parallel = "tp=16", .model = "llama-8b", .cluster = "dgx_h100"}),
              HasSubstr("8 heads of keys and values cannot be divided over 16 ranks"));
}

/// Whether a harness takes single matrices of a layer, by the names that a GPT's have or with biases.
bool takes_matrices_by_name(const std::string& folder) {
  const std::string harness = read_whole_file(folder + "/harness.cpp");
  return harness.find("h.linear(") != std::string::npos || harness.find(".weight\"") != std::string::npos;
}

TEST(Layout, WhereAHarnessTakesAGptsMatricesLlamaIsRefused) {
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/puzzles")) {
    if (!std::filesystem::exists(entry.path() / "puzzle.toml")) continue;
    const cases::Manifest of = puzzle(entry.path().filename().string());
    if (of.cases.empty() || !of.cases.front().has_model()) continue;
    const bool takes = takes_matrices_by_name(entry.path().string());
    const std::string why = refusal(of, {.model = "llama-8b", .cluster = "dgx_h100"});
    EXPECT_EQ(why.find("llama-70b-as-gpt and llama-405b-as-gpt") != std::string::npos, takes) << of.id << ": " << why;
    EXPECT_THAT(refusal(of, {.model = "llama-70b-as-gpt", .cluster = "dgx_h100"}), Not(HasSubstr("as-gpt"))) << of.id;
    refused += takes ? 1 : 0;
  }
  EXPECT_GE(refused, 4) << "16, 17, 18 and 38";
}

TEST(Layout, KnowsWhatTheStacksFileSaysOfTheCluster) {
  const auto on_cluster = [](const char* cluster) {
    return wished_case(grid(), {.cluster = cluster, .stack = "megatron-2022"}, kFiles).on_cluster;
  };
  ASSERT_TRUE(on_cluster("dgx_a100"));
  EXPECT_EQ(on_cluster("dgx_a100")->rows, 4);
  EXPECT_FALSE(on_cluster("dgx_h100"));
}

TEST(Layout, SetsNumbersOfTheCase) {
  EXPECT_EQ(case_of(puzzle("10_overlap_buckets"), {.set = {"bucket=777"}}, kFiles).number("bucket"), 777);
}

TEST(Layout, SaysWhatDoesNotFit) {
  EXPECT_THAT(refusal(grid(), {.parallel = "tp=2,ep=2"}), HasSubstr("has no axis 'ep': it has tp, pp, dp, v"));
  EXPECT_THAT(refusal(grid(), {.parallel = "tp=0"}), HasSubstr("a whole number of 1 or more"));
  EXPECT_THAT(refusal(grid(), {.parallel = "tp"}), HasSubstr("takes NAME=NUMBER, not 'tp'"));
  EXPECT_THAT(refusal(grid(), {.parallel = "tp=2,dp=2", .ranks = 8}), HasSubstr("has 4 ranks, and --ranks says 8"));
  EXPECT_THAT(refusal(grid(), {.ranks = 64}), HasSubstr("How are the 64 ranks divided?"));
  EXPECT_THAT(refusal(grid(), {.model = "gpt5"}), HasSubstr("llama-405b"));
  EXPECT_THAT(refusal(grid(), {.cluster = "moon"}), HasSubstr("dgx_h100"));
  EXPECT_THAT(refusal(grid(), {.precision = "fp8"}), HasSubstr("it is f32, mixed or mixed-f32-grads"));
  EXPECT_THAT(refusal(grid(), {.set = {"bucket=1"}}), HasSubstr("has no number 'bucket'"));
  EXPECT_THAT(refusal(puzzle("01_training_step"), {.parallel = "dp=2"}), HasSubstr("have no axes"));
  EXPECT_THAT(refusal(grid(), {.micro_batches = 2, .global_batch = 8}), HasSubstr("give one of them"));
  EXPECT_THAT(refusal(grid(), {.base = "no such case"}), HasSubstr("has no case 'no such case'"));
}

TEST(Layout, ChunksThatTakeTurnsWantMultiplesOfTheStages) {
  EXPECT_EQ(case_of(grid(), {.parallel = "pp=3", .set = {"layers=12"}}, kFiles).micro_batches % 3, 1);
  EXPECT_EQ(case_of(grid(), {.parallel = "pp=3,v=2", .model = "llama-405b"}, kFiles).micro_batches, 6);
  EXPECT_EQ(case_of(grid(), {.parallel = "pp=2,v=2", .micro_batches = 6}, kFiles).micro_batches, 6);
  EXPECT_THAT(refusal(grid(), {.parallel = "pp=2,v=2", .micro_batches = 5}),
              HasSubstr("multiples of the 2 stages, and there are 5"));
}

TEST(Layout, KnowsHowAModelCanBeDivided) {
  EXPECT_THAT(refusal(grid(), {.parallel = "tp=4"}), HasSubstr("2 heads cannot be divided over 4 ranks"));
  EXPECT_THAT(refusal(grid(), {.parallel = "pp=2,v=3"}), HasSubstr("are too few for 6 stages"));
  EXPECT_THAT(refusal(puzzle("20_one_f_one_b"), {.ranks = 64}), HasSubstr("are too few for 64 stages"));
}

}  // namespace
}  // namespace shardlings::simulation
