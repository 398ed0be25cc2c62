/// \file
/// A model's layers as data: widths, entries and ranges. Shared by the runtime, the harness and the grader.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "shardlings/model.h"
#include "shardlings/shard.h"

namespace shardlings::model {

/// What a model is made of; part of a case.
struct ModelSpec {
  enum class Family : std::uint8_t { mlp, gpt };
  Family family = Family::mlp;
  /// gpt: whose layers. Those of Llama are known to simulations alone: there are no kernels for them.
  enum class Blocks : std::uint8_t { gpt, llama };
  Blocks blocks = Blocks::gpt;
  int layers = 2;     ///< mlp: all layers; gpt: blocks (plus one embedding and one head layer)
  Count hidden = 16;  ///< h
  /// mlp only: widths of the outputs of all layers but the last, for layers of unequal size; empty: all `hidden`.
  std::vector<Count> widths;
  Count outputs = 16;       ///< mlp: classes, the width of the last layer; gpt: vocabulary
  int heads = 2;            ///< gpt
  int key_value_heads = 0;  ///< llama: heads of keys and values, each for as many heads of queries; 0: as `heads`
  Count wide = 0;           ///< llama: width of the middle of the feed-forward part; 0: 4 h
  Count sequence = 8;       ///< s, as long as the position embedding
  bool tied = false;        ///< gpt: the head's weight is the embedding's table (Press and Wolf 2017)
  enum class Optimizer : std::uint8_t { sgd, adam };
  Optimizer optimizer = Optimizer::sgd;
  float lr = 0.1F;
  float eps = 1e-3F;  ///< adam
  float clip = 0;     ///< largest norm of the whole gradient that an update may use; 0: any
};

inline constexpr Words<ModelSpec::Family, 2> kFamilyWords{{"mlp", "gpt"}};
inline constexpr Words<ModelSpec::Blocks, 2> kBlocksWords{{"gpt", "llama"}};
inline constexpr Words<ModelSpec::Optimizer, 2> kOptimizerWords{{"sgd", "adam"}};

struct LayerStructure {
  enum class Type : std::uint8_t { linear_gelu, linear, embedding, block, head };
  Type type = Type::linear;
  Count in = 0;          ///< width of the input (embedding: rows of the table)
  Count out = 0;         ///< width of the output; of a divided head this rank's part of the vocabulary
  int heads = 0;         ///< of a block: those of this rank
  Count attended = 0;    ///< of a block: width of this rank's heads together
  Count key_values = 0;  ///< of a block: width of this rank's heads of keys together, and of those of values
  Count wide = 0;        ///< of a block: width of this rank's middle of the feed-forward part
  bool llama = false;    ///< the layer is Llama's: RMS norm, no biases; of a block a gate in the middle
  Range vocabulary;      ///< of an embedding and a head: which ids are this rank's
  Range range;           ///< in a flat tensor of all weights
  std::vector<Entry> entries;
  std::vector<Rectangle> parts;  ///< which rectangle of the whole matrix each entry is
};

struct ModelStructure {
  ModelSpec spec;
  std::vector<LayerStructure> layers;
  Count total = 0;
};

/// mlp: layers-1 times linear + GELU (h to h, or as `widths` says), then linear (to outputs).
/// gpt: embedding (tokens + positions), `layers` pre-norm blocks (Radford et al. 2019), final norm + head (no bias).
///
/// Entries of each type, in this order (weights are (outputs, inputs)):
///   linear, linear_gelu: weight (out, in), bias (out)
///   embedding: token (V, h), position (s, h)
///   block: ln1.weight, ln1.bias, query.weight, key.weight, value.weight (h, h: together the (3h, h) of one product),
///     query.bias, key.bias, value.bias, proj.weight (h, h), proj.bias, ln2.weight, ln2.bias,
///     fc.weight (4h, h), fc.bias, fc2.weight (h, 4h), fc2.bias
///   head: norm.weight, norm.bias, weight (V, h)
/// With the layers of Llama (Touvron et al. 2023, Grattafiori et al. 2024), where positions are turned into queries and
/// keys (Su et al. 2021), k is h key_value_heads / heads and w is `wide`:
///   embedding: token (V, h)
///   block: ln1.weight, query.weight (h, h), key.weight, value.weight (k, h), proj.weight (h, h), ln2.weight,
///     gate.weight, fc.weight (w, h), fc2.weight (h, w)
///   head: norm.weight, weight (V, h)
/// Splits are those of Shoeybi et al. 2019 (Megatron-LM, section 3): heads, the middle of the feed-forward part and the
/// vocabulary are divided. Of an MLP, even layers are divided by rows and odd ones by columns, so that pairs fit.
///
/// Throws std::invalid_argument for extents below 1, a hidden size that the heads do not divide, heads that those of
/// keys and values do not divide, or widths of another number of layers or family.
ModelStructure make_structure(const ModelSpec& spec);

/// What one of `parts` ranks has of each layer, as the entries' splits say: heads, middle and vocabulary are dealt as
/// Group::part deals them; heads of queries stay with the keys that they share. Throws std::invalid_argument for more
/// parts than heads (of keys and values, where these are fewer), or an mlp.
ModelStructure make_part(const ModelSpec& spec, int parts, int part);

/// Where the entries of a layer stand among its `entries`: for who asks at every call, and has no time to compare
/// names. Not of Llama's layers.
/// @{
namespace linear_entries {
enum : std::uint8_t { weight, bias };
}
namespace embedding_entries {
enum : std::uint8_t { token, position };
}
namespace block_entries {
enum : std::uint8_t {
  ln1_weight,
  ln1_bias,
  query_weight,
  key_weight,
  value_weight,
  query_bias,
  key_bias,
  value_bias,
  proj_weight,
  proj_bias,
  ln2_weight,
  ln2_bias,
  fc_weight,
  fc_bias,
  fc2_weight,
  fc2_bias
};
}
namespace head_entries {
enum : std::uint8_t { norm_weight, norm_bias, weight };
}
/// @}

/// The entry of that name; throws std::out_of_range if the layer has none.
const Entry& entry_of(const LayerStructure& layer, std::string_view name);

}  // namespace shardlings::model
