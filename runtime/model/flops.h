/// \file
/// Floating-point operations of a layer's forward, as formulas: what recomputing it costs.
///
/// For T tokens (s b), widths `in` and `out` (h for both in a block), a product of matrices being two operations for
/// each multiplication:
///
/// | layer       | forward                                       |
/// |-------------|-----------------------------------------------|
/// | linear      | 2 T in out + T out (bias)                     |
/// | linear_gelu | 2 T in out + T out + 16 T out                 |
/// | embedding   | T out (positions)                             |
/// | block       | 24 T h h + 4 T s h + 91 T h                   |
/// | head        | 8 T in (norm) + 2 T in out                    |
///
/// Of a block, the products are those of Narayanan et al. 2021 (section 5.1, there for b sequences: 24 b s h h +
/// 4 b s s h). The 91: two norms (16), biases (9), two sums with the input (2), the GELU of four times the width (64).
///
/// Of a layer that is divided, each term is that of this rank's heads, part of the middle, or part of the vocabulary.
#pragma once

#include "base/units.h"
#include "model/structure.h"

namespace shardlings::model {

/// `tokens` are s b; `batch` is b.
Flops forward_flops(const LayerStructure& layer, Count tokens, Count batch);

}  // namespace shardlings::model
