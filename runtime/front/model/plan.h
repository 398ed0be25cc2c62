/// \file
/// A model's layers as data: widths, entries and ranges. Shared by the runtime, the harness and the grader.
#pragma once

#include <string>
#include <vector>

#include "shardlings/model.h"

namespace shardlings {

/// What a model is made of; part of a case.
struct ModelSpec {
  enum class Family : std::uint8_t { mlp, gpt };
  Family family = Family::mlp;
  int layers = 2;            ///< mlp: all layers; gpt: blocks (plus one embedding and one head layer)
  Count hidden = 16;         ///< h
  Count outputs = 16;        ///< mlp: classes, the width of the last layer; gpt: vocabulary
  int heads = 2;             ///< gpt
  Count sequence = 8;        ///< s, as long as the position embedding
  enum class Optimizer : std::uint8_t { sgd, adam };
  Optimizer optimizer = Optimizer::sgd;
  float lr = 0.1F;
  float eps = 1e-3F;         ///< adam
};

namespace detail {

struct LayerPlan {
  enum class Type : std::uint8_t { linear_gelu, linear, embedding, block, head };
  Type type = Type::linear;
  Count in = 0;   ///< width of the input (embedding: rows of the table)
  Count out = 0;  ///< width of the output
  Range range;    ///< in a flat tensor of all weights
  std::vector<Entry> entries;
};

struct ModelPlan {
  ModelSpec spec;
  std::vector<LayerPlan> layers;
  Count total = 0;
};

/// mlp: layers-1 times linear + GELU (h to h), then linear (h to outputs).
/// gpt: embedding (tokens + positions), `layers` pre-norm blocks (Radford et al. 2019), final norm + head (no bias).
ModelPlan make_plan(const ModelSpec& spec);

}  // namespace detail
}  // namespace shardlings
