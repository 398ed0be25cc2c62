/// \file
/// What a transformer block keeps from forward to backward, tensor by tensor: the only place of this list.
///
/// For s positions of b sequences, width h and a heads, in elements, of e bytes each unless stated otherwise:
///
/// | tensor                         | elements | divided by tensor parallelism | inner attention |
/// |--------------------------------|----------|-------------------------------|-----------------|
/// | x, the block's input           | s b h    |                               |                 |
/// | normed x                       | s b h    |                               |                 |
/// | queries, keys, values          | 3 s b h  | yes                           |                 |
/// | attention probabilities        | a s s b  | yes                           | yes             |
/// | context                        | s b h    | yes                           |                 |
/// | x plus attention               | s b h    |                               |                 |
/// | normed x plus attention        | s b h    |                               |                 |
/// | input of the GELU              | 4 s b h  | yes                           |                 |
/// | output of the GELU             | 4 s b h  | yes                           |                 |
/// | with statistics: of two norms  | 4 s b    | (4 bytes each)                |                 |
/// | with dropout: two masks        | 2 s b h  | (1 byte each)                 |                 |
/// | with dropout: mask in attention| a s s b  | yes (1 byte each)             | yes             |
/// | with dropout: its result       | a s s b  | yes                           | yes             |
///
/// Of Llama's blocks queries, keys and values have s b (h + 2 k) elements, k being the width of the heads of keys; what
/// goes into the middle is twice as wide as what comes out, a gate and what it opens for, 2 s b w and s b w; norms keep
/// one number of statistics for each row; and there is no dropout.
///
/// With e = 2 and dropout, without statistics, the sum is s b h (34 + 5 a s/h): equation 1 of Korthikanti et al. 2022.
/// "Inner attention" is what their selective recomputation computes again instead of keeping it.
#pragma once

#include <vector>

#include "base/units.h"
#include "model/structure.h"
#include "shardlings/tensor.h"

namespace shardlings::model {

/// How an implementation keeps activations.
struct ActivationFormat {
  Count element_bytes = 4;
  bool dropout = false;
  bool statistics = true;  ///< mean and 1/deviation of the rows of layer norms are kept
};

/// One tensor of the list.
struct KeptTensor {
  const char* name = "";
  Bytes bytes;           ///< on one device, nothing divided
  bool divided = false;  ///< by tensor parallelism; the others by sequence parallelism alone
  bool inner_attention = false;
};

/// The list for one micro-batch; `sequence` is s, `batch` is b.
std::vector<KeptTensor> kept_by_block(Count hidden, int heads, Count sequence, Count batch,
                                      const ActivationFormat& format);

/// What a rank has of a block: all of it, or the part of tensor parallelism.
struct BlockPart {
  Count hidden = 0;      ///< h
  int heads = 0;         ///< of this rank
  Count attended = 0;    ///< width of these heads together; h if they are all
  Count wide = 0;        ///< width of its part of the GELU; 4 h if it is all
  Count key_values = 0;  ///< width of its heads of keys together; as `attended` but in Llama's blocks
  bool llama = false;
};
/// What this layer, a block, has.
BlockPart part_of_block(const LayerStructure& block);
/// The same list, with the bytes of that part.
std::vector<KeptTensor> kept_by_block(const BlockPart& part, Count sequence, Count batch,
                                      const ActivationFormat& format);

}  // namespace shardlings::model
