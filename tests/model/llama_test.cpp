// The layers of Llama: how many weights they have, how they are divided, and what their forward costs and keeps.
#include <gtest/gtest.h>

#include <stdexcept>

#include "model/activations.h"
#include "model/flops.h"
#include "model/memory.h"
#include "model/software_stack.h"
#include "model/structure.h"

namespace shardlings::model_test {
namespace {

using model::LayerStructure;
using Type = LayerStructure::Type;

/// h = 16, 8 heads of 2, of which pairs share one of 4 heads of keys, w = 24.
model::ModelSpec small_llama() {
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  spec.blocks = model::ModelSpec::Blocks::llama;
  spec.layers = 2;
  spec.hidden = 16;
  spec.heads = 8;
  spec.key_value_heads = 4;
  spec.wide = 24;
  spec.outputs = 40;
  spec.sequence = 6;
  return spec;
}

TEST(Llama, HasNoBiasesAndNoPositions) {
  const auto structure = model::make_structure(small_llama());
  ASSERT_EQ(structure.layers.size(), 4U);
  EXPECT_EQ(structure.layers[0].range.size(), 40 * 16);
  EXPECT_EQ(structure.layers[1].range.size(), 2 * 16 + 2 * 16 * 16 + 2 * 8 * 16 + 3 * 24 * 16);
  EXPECT_EQ(structure.layers[3].range.size(), 16 + 40 * 16);
  EXPECT_EQ(entry_of(structure.layers[2], "key.weight").rows, 8) << "four heads of two";
  EXPECT_THROW(entry_of(structure.layers[2], "query.bias"), std::out_of_range);
}

TEST(Llama, QueriesStayWithTheKeysThatTheyShare) {
  model::ModelSpec spec = small_llama();
  Count sum = 0;
  for (int part = 0; part < 3; ++part) {  // 2 + 1 + 1 heads of keys
    const LayerStructure block = model::make_part(spec, 3, part).layers[1];
    EXPECT_EQ(block.heads, part == 0 ? 4 : 2);
    EXPECT_EQ(block.attended, 2 * block.heads);
    EXPECT_EQ(block.key_values, block.heads);
    EXPECT_EQ(entry_of(block, "query.weight").rows, block.attended);
    EXPECT_EQ(entry_of(block, "value.weight").rows, block.key_values);
    sum += block.range.size() - 2 * 16;
  }
  EXPECT_EQ(sum, model::make_structure(spec).layers[1].range.size() - 2 * 16) << "norms are whole everywhere";
  EXPECT_THROW(model::make_part(spec, 5, 0), std::invalid_argument) << "four heads of keys";
  spec.key_value_heads = 3;
  EXPECT_THROW(model::make_structure(spec), std::invalid_argument);
  spec = small_llama();
  spec.blocks = model::ModelSpec::Blocks::gpt;
  EXPECT_THROW(model::make_structure(spec), std::invalid_argument) << "a GPT has no heads that share";
}

// By hand, for T = 12 tokens of sequences of s = 6: queries and projection 2 h h, keys and values 2 h k, three matrices
// of the middle, each 2 operations; 2 products of attention.
TEST(Llama, ForwardCostsItsProductsAndALittleMore) {
  const auto structure = model::make_structure(small_llama());
  constexpr Count kTokens = 12, kH = 16, kK = 8, kW = 24, kS = 6, kV = 40;
  constexpr Count kProducts = 2 * kTokens * (2 * kH * kH + 2 * kH * kK + 3 * kH * kW) + 4 * kTokens * kS * kH;
  constexpr Count kRest = kTokens * (10 * kH + 3 * (kH + kK) + 12 * kW);
  EXPECT_EQ(forward_flops(structure.layers[1], kTokens, 2), Flops(kProducts + kRest));
  EXPECT_EQ(forward_flops(structure.layers[3], kTokens, 2), Flops(kTokens * (4 * kH + 2 * kH * kV)));
  EXPECT_EQ(forward_flops(structure.layers[0], kTokens, 2), Flops(0));
  Flops parts;
  for (int part = 0; part < 4; ++part)
    parts += forward_flops(model::make_part(small_llama(), 4, part).layers[1], kTokens, 2);
  EXPECT_EQ(parts, Flops(kProducts + kRest + 3 * kTokens * 10 * kH)) << "norms and sums are made on each rank";
}

// With k = h and w = 4 h: 16 s b h of a GPT without dropout (x included), and the gate's 4 s b h.
TEST(Llama, KeepsTheGateToo) {
  model::ModelSpec spec = small_llama();
  spec.key_value_heads = 0;
  spec.wide = 0;
  const LayerStructure block = model::make_structure(spec).layers[1];
  constexpr Count kTokens = 12, kHeads = 8, kS = 6, kBatch = 2;
  const Count activation = kTokens * 16, scores = kBatch * kHeads * kS * kS, statistics = 2 * kTokens;
  EXPECT_EQ(saved_bytes(block, kTokens, kBatch), Bytes(4 * (15 * activation + 4 * activation + scores + statistics)));
  Bytes with_dropout, without;
  for (const bool dropout : {true, false}) {
    Bytes& sum = dropout ? with_dropout : without;
    for (const auto& kept : kept_by_block(part_of_block(block), kS, kBatch, {2, dropout, false})) sum += kept.bytes;
  }
  EXPECT_EQ(with_dropout, without) << "Llama has none";
}

TEST(Llama, ExtentsHaveAGateAndFewerKeys) {
  const LayerStructure block = model::make_structure(small_llama()).layers[1];
  const model::BlockExtents extents = extents_of(block, 6, 2, 1, false);
  const auto elements = [&](model::Extent extent) { return extents.elements.at(static_cast<std::size_t>(extent)); };
  const auto width = [&](model::Width width) { return extents.widths.at(static_cast<std::size_t>(width)); };
  EXPECT_EQ(elements(model::Extent::attended), 12 * 16);
  EXPECT_EQ(elements(model::Extent::key_values), 12 * 8);
  EXPECT_EQ(elements(model::Extent::gate), 12 * 24);
  EXPECT_EQ(width(model::Width::qkv), 16 + 2 * 8);
  EXPECT_EQ(width(model::Width::into_middle), 2 * 24);
  EXPECT_EQ(width(model::Width::wide), 24);
}

}  // namespace
}  // namespace shardlings::model_test
