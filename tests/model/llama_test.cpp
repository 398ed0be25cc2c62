// The layers of Llama: how many weights they have, how they are divided, and what their forward costs and keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>

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

// Of the rest: two norms of 9 and two sums, positions turned back, SwiGLU.
TEST(Llama, BackwardCostsEachProductTwiceAndALittleMore) {
  const auto structure = model::make_structure(small_llama());
  constexpr Count kTokens = 12, kH = 16, kK = 8, kW = 24, kS = 6, kV = 40;
  constexpr Count kQueries = 2 * kTokens * kH * kH, kKeys = 2 * kTokens * kH * kK, kMiddle = 2 * kTokens * kH * kW;
  constexpr Count kScores = 2 * kTokens * kS * kH;  // with keys, and as much with values
  constexpr Count kRest = kTokens * (2 * 9 * kH + 2 * kH + 3 * (kH + kK) + 17 * kW);
  EXPECT_EQ(backward_flops(structure.layers[1], kTokens, 2),
            Flops(2 * (2 * kQueries + 2 * kKeys + 3 * kMiddle + 2 * kScores) + kRest));
  EXPECT_EQ(backward_flops(structure.layers[3], kTokens, 2), Flops(kTokens * (9 * kH + 4 * kH * kV)));
  EXPECT_EQ(backward_flops(structure.layers[0], kTokens, 2), Flops(kTokens * kH)) << "added to the table's rows";
}

/// What is alive, tensor by tensor, and the most that ever was.
class Alive {
 public:
  void make(const std::string& name, Count elements) {
    sizes_[name] = 4 * elements;
    live_ += 4 * elements;
    peak_ = std::max(peak_, live_);
  }
  void drop(std::initializer_list<const char*> names) {
    for (const char* name : names) live_ -= sizes_.at(name);
  }
  Bytes live() const { return Bytes(live_); }
  Bytes peak() const { return Bytes(peak_); }

 private:
  std::map<std::string, Count> sizes_;
  Count live_ = 0, peak_ = 0;
};

/// A block's extents for 12 tokens of two sequences, in elements.
struct Extents {
  explicit Extents(const LayerStructure& block)
      : x(kTokens * block.in),
        q(kTokens * block.attended),
        k(kTokens * block.key_values),
        m(kTokens * block.wide),
        p(2 * block.heads * 6 * 6) {}
  static constexpr Count kTokens = 12;
  Count x, q, k, m, p;
};

/// The order of a GPT's forward, with a gate beside the middle. Without `saves` each tensor goes after its last use.
Alive played_forward(const LayerStructure& block, bool saves) {
  const Extents n(block);
  Alive alive;
  const auto last_use_of = [&](std::initializer_list<const char*> names) {
    if (!saves) alive.drop(names);
  };
  alive.make("normed1", n.x);
  if (saves) alive.make("stats1", n.kTokens);
  alive.make("qkv", n.q + 2 * n.k);
  last_use_of({"normed1"});
  if (saves) alive.make("probabilities", n.p);
  alive.make("context", n.q);
  last_use_of({"qkv"});
  alive.make("x plus attention", n.x);
  last_use_of({"context"});
  alive.make("normed2", n.x);
  if (saves) alive.make("stats2", n.kTokens);
  alive.make("gate", n.m);
  alive.make("into", n.m);
  last_use_of({"normed2"});
  alive.make("product", n.m);
  last_use_of({"gate", "into"});
  alive.make("y", n.x);
  last_use_of({"product", "x plus attention"});
  return alive;
}

/// The same of backward, from the saved and the gradient of y to the gradient of x.
Alive played_backward(const LayerStructure& block) {
  const Extents n(block);
  Alive alive = played_forward(block, true);
  alive.drop({"y"});
  alive.make("grad y", n.x);
  alive.drop({"product"});
  alive.make("grad product", n.m);
  alive.make("grad gate", n.m);
  alive.make("grad into", n.m);
  alive.drop({"grad product", "gate", "into", "normed2"});
  alive.make("grad normed2", n.x);
  alive.drop({"grad gate", "grad into"});
  alive.make("grad x plus attention", n.x);
  alive.drop({"grad normed2", "x plus attention", "stats2", "grad y", "context"});
  alive.make("grad context", n.q);
  alive.make("grad qkv", n.q + 2 * n.k);
  alive.drop({"grad context", "probabilities", "qkv", "normed1"});
  alive.make("grad normed1", n.x);
  alive.drop({"grad qkv"});
  alive.make("grad x", n.x);
  alive.drop({"grad normed1", "stats1", "grad x plus attention"});
  return alive;
}

TEST(Llama, CallsHoldWhatTheirOrderOfOperationsHolds) {
  model::ModelSpec narrow = small_llama(), broad = small_llama(), square = small_llama();
  narrow.wide = 2;
  broad.wide = 160;
  square.key_value_heads = 0;
  for (const model::ModelSpec& spec : {small_llama(), narrow, broad, square}) {
    for (const int parts : {1, 4}) {
      const LayerStructure block = model::make_part(spec, parts, 0).layers[1];
      const Alive saving = played_forward(block, true), plain = played_forward(block, false),
                  back = played_backward(block);
      EXPECT_EQ(forward_peak(block, Extents::kTokens, 2, true), saving.peak());
      EXPECT_EQ(forward_peak(block, Extents::kTokens, 2, false), plain.peak());
      EXPECT_EQ(plain.live(), output_bytes(block, Extents::kTokens));
      EXPECT_EQ(saving.live(), saved_bytes(block, Extents::kTokens, 2) + output_bytes(block, Extents::kTokens));
      EXPECT_EQ(backward_peak(block, Extents::kTokens, 2), back.peak());
      EXPECT_EQ(back.live(), input_bytes(block, Extents::kTokens));
    }
  }
}

// T = 12, h = 16, V = 40: normed input and one number for each row; logits, or the gradient of what was normed.
TEST(Llama, ItsHeadKeepsNoMean) {
  const LayerStructure head = model::make_structure(small_llama()).layers[3];
  constexpr Count kInput = 12 * 16, kLogits = 12 * 40, kRows = 12;
  EXPECT_EQ(saved_bytes(head, 12, 2), Bytes(4 * (kInput + kRows)));
  EXPECT_EQ(forward_peak(head, 12, 2, true), Bytes(4 * (kInput + kRows + kLogits)));
  EXPECT_EQ(backward_peak(head, 12, 2), Bytes(4 * (kLogits + kInput + kRows)));
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
