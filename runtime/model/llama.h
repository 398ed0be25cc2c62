/// \file
/// Floating-point operations of the forward of Llama's layers (Touvron et al. 2023; Grattafiori et al. 2024).
///
/// For T tokens of b sequences of s positions, widths h and w (the middle), and k, the width of all heads of keys:
///
/// | layer     | forward                                                              |
/// |-----------|----------------------------------------------------------------------|
/// | embedding | 0: rows of the table are copied                                      |
/// | block     | T (4 h h + 4 h k + 6 h w) + 4 T s h + T (10 h + 3 (h + k) + 12 w)    |
/// | head      | 4 T h + 2 T h V                                                      |
///
/// Of a block, the products are those of queries and projection (4 h h), keys and values (4 h k), and gate, middle and
/// what comes out of it (6 h w); 4 T s h are the attention's. The rest: two RMS norms and two sums with the input (10
/// h), positions turned into queries and keys (three operations a number), and SwiGLU (12 a number, by the convention
/// of model/operation_flops.h that an exp is 8). With k = h and w = 4 h the products are 32 h h instead of a GPT's 24 h
/// h.
///
/// Of a layer that is divided, each term is that of this rank's heads, part of the middle, or part of the vocabulary.
#pragma once

#include "base/units.h"
#include "model/structure.h"

namespace shardlings::model {

/// `layer` is one of Llama's; `tokens` are T, `sequence` is s.
Flops llama_forward_flops(const LayerStructure& layer, Count tokens, Count sequence);

}  // namespace shardlings::model
