// Software stacks: their files, and what they keep, against the formulas of the paper.
#include "simulation/stack_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "model/structure.h"

namespace shardlings::simulation {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kStacks = SHARDLINGS_SOURCE_FOLDER "/runtime/front/clock/stacks";

std::string fault_of(const std::string& name) {
  try {
    load_stack(kStacks, name);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// What all rows keep for one block on one of `parts` ranks.
Bytes kept_by(const std::string& name, int parts, bool sequence_parallel, bool inner) {
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  spec.layers = 1;
  spec.hidden = 1024;
  spec.heads = 16;
  spec.sequence = 2048;
  spec.outputs = 64;
  const model::ModelStructure structure = model::make_part(spec, parts, 0);
  const model::BlockExtents extents = extents_of(structure.layers[1], 2048, 2, parts, sequence_parallel);
  Bytes sum;
  for (const model::StackKept& kept : load_stack(kStacks, name).stack->kept) {
    if (inner || !kept.inner) sum += bytes_of(kept.elements, kept.masks, extents, Bytes(2));
  }
  return sum;
}

TEST(StackFile, EveryFileIsRead) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kStacks)) {
    const StackFile file = load_stack(kStacks, entry.path().stem().string());
    EXPECT_EQ(file.stack->name, entry.path().stem().string());
    EXPECT_EQ(load_stack("", entry.path().string()).stack->name, file.stack->name) << "a file of its own";
    ++files;
  }
  EXPECT_GE(files, 3);
}

/// Operations of a stack's products with weights: of forward, of backward's first half, of its second half.
struct Products {
  Flops forward, input, weights;
};

Products products_of(const model::SoftwareStack& stack, const model::BlockExtents& extents) {
  Products sum;
  const auto flops = [&](const model::StackRow& row) { return cost_of(row, extents, Bytes(2), false).flops; };
  for (const model::StackRow& row : stack.forward) sum.forward += row.in == model::Width::none ? Flops(0) : flops(row);
  for (const model::StackRow& row : stack.backward) {
    if (row.in != model::Width::none) (row.weights ? sum.weights : sum.input) += flops(row);
  }
  return sum;
}

// Backward has each product with a weight twice: for its input, and in the second half for the weight.
TEST(StackFile, EveryStackTellsTheHalvesOfItsBackwardApart) {
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  spec.layers = 1;
  spec.hidden = 64;
  spec.heads = 4;
  spec.sequence = 32;
  const model::ModelStructure structure = model::make_structure(spec);
  const model::BlockExtents extents = extents_of(structure.layers[1], 32, 2, 1, false);
  for (const auto& entry : fs::directory_iterator(kStacks)) {
    const Products products = products_of(*load_stack(kStacks, entry.path().stem().string()).stack, extents);
    EXPECT_EQ(products.weights, products.forward) << entry.path();
    EXPECT_EQ(products.input, products.forward) << entry.path();
    EXPECT_EQ(products.weights, Flops(24 * 32 * 2 * 64 * 64)) << entry.path();
  }
}

TEST(StackFile, SaysWhatIsWrongWithOne) {
  EXPECT_THAT(fault_of("megatron"), HasSubstr("there are: ours, megatron-2021, megatron-2022, torch-flash"));
  const std::string path = testing::TempDir() + "wrong_stack.toml";
  std::ofstream(path) << "name = \"wrong\"\nsource = \"none\"\n"
                      << "forward = [{ name = \"x\", moves = { hiden = 1 } }]\nbackward = [{ name = \"y\" }]\n";
  EXPECT_THAT(fault_of(path), HasSubstr("'hiden' is none of hidden, gathered"));
}

// Korthikanti et al. 2022, equations 1, 2 and 4 and table 2, less the block's input of 2 s b h, which the program has.
TEST(StackFile, MegatronKeepsWhatThePaperSays) {
  constexpr std::int64_t kSbh = 2048 * 2 * 1024;
  constexpr std::int64_t kScores = 5 * 16 * 2048 / 1024;  // 5 a s / h
  EXPECT_EQ(kept_by("megatron-2021", 1, false, true).value(), kSbh * (34 + kScores - 2));
  EXPECT_EQ(kept_by("megatron-2021", 8, false, true).value(), kSbh * (10 - 2) + kSbh * (24 + kScores) / 8);
  EXPECT_EQ(kept_by("megatron-2022", 8, true, true).value(), kSbh * (34 + kScores - 2) / 8);
  EXPECT_EQ(kept_by("megatron-2022", 8, true, false).value(), kSbh * (34 - 2) / 8);
}

}  // namespace
}  // namespace shardlings::simulation
