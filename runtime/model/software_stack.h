/// \file
/// What a framework's software makes of a transformer block, as data: its kernels, its collectives and what it keeps.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/words.h"
#include "model/structure.h"

namespace shardlings::model {

/// What a block's data have as many elements as, on one rank and for one micro-batch of s positions of b sequences.
enum class Extent : std::uint8_t {
  hidden,      ///< s b h; with sequence parallelism this rank's part of the positions
  gathered,    ///< s b h, in any case
  attended,    ///< s b times the width of this rank's heads
  wide,        ///< s b times this rank's part of the middle of the feed-forward part
  scores,      ///< s s b times the number of this rank's heads
  weights,     ///< this rank's weights of the block
  key_values,  ///< s b times the width of this rank's heads of keys: as `attended`, but of Llama's blocks less
  gate         ///< of Llama's blocks as `wide`: what decides how much of the middle goes on; of a GPT's nothing
};
inline constexpr std::size_t kExtents = 8;
inline constexpr Words<Extent, kExtents> kExtentWords{
    {"hidden", "gathered", "attended", "wide", "scores", "weights", "key_values", "gate"}};
/// How many of each.
using Elements = std::array<double, kExtents>;

/// One side of a weight matrix.
enum class Width : std::uint8_t {
  none,
  hidden,
  attended,
  qkv,         ///< queries, keys and values beside one another
  wide,        ///< what comes out of the middle
  into_middle  ///< what goes into it: as `wide`, and of Llama's blocks the gate beside it
};
inline constexpr std::size_t kWidths = 6;
inline constexpr Words<Width, kWidths> kWidthWords{{"none", "hidden", "attended", "qkv", "wide", "into_middle"}};

/// A collective of the tensor-parallel group, of s b h elements.
enum class Exchange : std::uint8_t {
  none,
  gather,     ///< with sequence parallelism an all-gather; without it nothing
  sum,        ///< with sequence parallelism a reduce-scatter; without it an all-reduce
  all_reduce  ///< in any case
};
inline constexpr Words<Exchange, 4> kExchangeWords{{"none", "gather", "sum", "all_reduce"}};

/// One kernel or one collective.
struct StackRow {
  std::string name;
  Width in = Width::none, out = Width::none;  ///< a product of s b rows with an (in, out) matrix
  double scores_products = 0;                 ///< products of attention that read or write the scores
  double flash_products = 0;                  ///< those that keep the scores on the chip
  Elements moves{};                           ///< read and written, of 16 bits in mixed precision
  Elements masks{};                           ///< likewise, of one byte
  Exchange exchange = Exchange::none;
  bool inner = false;    ///< of the inner attention, which selective recomputation repeats
  bool llama = false;    ///< only Llama's blocks have it
  bool weights = false;  ///< of backward: for the gradients of weights, and so in its second half (backward_weights)

  bool operator==(const StackRow&) const = default;
};

/// Something that stays from forward to backward.
struct StackKept {
  std::string name;
  Elements elements{}, masks{};
  bool inner = false;

  bool operator==(const StackKept&) const = default;
};

struct SoftwareStack {
  std::string name;
  std::vector<StackRow> forward, backward;
  std::vector<StackKept> kept;  ///< beside the block's input, which the program has
  Elements workspace{};         ///< most that backward has at once beside the gradient and what was kept
  bool causal_flash = false;    ///< flash attention leaves out the half of the scores that the mask hides
  bool sequence_parallel = false;
  /// Bytes that its optimizer's step reads and writes for each of the rank's weights, all of which it updates, whatever
  /// the program divides over replicas. 0: an update costs what the program's does.
  double optimizer_bytes = 0;

  bool operator==(const SoftwareStack&) const = default;
};

/// A block's extents on a rank that is one of `parts`.
struct BlockExtents {
  Count rows = 0;  ///< s b
  Count sequence = 0;
  std::array<Count, kExtents> elements{};  ///< by Extent
  std::array<Count, kWidths> widths{};     ///< by Width
};
BlockExtents extents_of(const LayerStructure& block, Count sequence, Count batch, int parts, bool sequence_parallel);

/// What a kernel does to a device.
struct KernelCost {
  Flops flops;
  Bytes traffic;
  bool matrix = false;
};
/// `element` is what an element of 16 or 32 bits weighs.
KernelCost cost_of(const StackRow& row, const BlockExtents& extents, Bytes element, bool causal_flash);

/// What a side of a product has as many elements as.
Elements elements_of(Width side);
Bytes bytes_of(const Elements& elements, const Elements& masks, const BlockExtents& extents, Bytes element);

}  // namespace shardlings::model
