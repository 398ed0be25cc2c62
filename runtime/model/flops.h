/// \file
/// Floating-point operations of a layer's forward and backward, and of the loss, as formulas.
///
/// For T tokens (s b), widths `in` and `out` (h for both in a block), a product of matrices being two operations for
/// each multiplication:
///
/// | layer       | forward                       | backward                         |
/// |-------------|-------------------------------|----------------------------------|
/// | linear      | 2 T in out + T out (bias)     | 4 T in out + T out               |
/// | linear_gelu | 2 T in out + T out + 16 T out | 4 T in out + T out + 24 T out    |
/// | embedding   | T out (positions)             | 2 T out (tokens, positions)      |
/// | block       | 24 T h h + 4 T s h + 91 T h   | 48 T h h + 8 T s h + 139 T h     |
/// | head        | 8 T in (norm) + 2 T in out    | 16 T in (norm) + 4 T in out      |
///
/// In two halves:
///
/// | layer       | backward_input                | backward_weights          |
/// |-------------|-------------------------------|---------------------------|
/// | linear      | 2 T in out                    | 2 T in out + T out (bias) |
/// | linear_gelu | 2 T in out + 24 T out         | 2 T in out + T out        |
/// | embedding   | 0                             | 2 T out                   |
/// | block       | 24 T h h + 8 T s h + 130 T h  | 24 T h h + 9 T h + 4 h    |
/// | head        | 16 T in (norm) + 2 T in out   | 2 T in out + 2 in         |
///
/// The 4 h and 2 in add up what norms have summed in the first half; all else is backward's. The products are table 1
/// of Qi et al. 2024 (arXiv 2401.10241): F s b h (24 h + 4 s), B s b h (24 h + 8 s), W 24 s b h h.
///
/// Of a block, the products are those of Narayanan et al. 2021 (section 5.1, there for b sequences: 24 b s h h +
/// 4 b s s h; backward has each product twice, for the gradients of its two factors). The 91: two norms (16), biases
/// (9), two sums with the input (2), the GELU of four times the width (64). The 139: two norms (32), biases (9), two
/// sums of gradients (2), the GELU (96).
///
/// Llama's layers have formulas of their own: model/llama.h.
///
/// Of a layer that is divided, each term is that of this rank's heads, part of the middle, or part of the vocabulary.
#pragma once

#include "base/units.h"
#include "model/structure.h"

namespace shardlings::model {

/// `tokens` are s b; `batch` is b.
Flops forward_flops(const LayerStructure& layer, Count tokens, Count batch);
/// The same of backward, of a layer that has saved all that backward needs: nothing is computed again.
Flops backward_flops(const LayerStructure& layer, Count tokens, Count batch);
/// Of its two halves.
Flops backward_input_flops(const LayerStructure& layer, Count tokens, Count batch);
Flops backward_weights_flops(const LayerStructure& layer, Count tokens);
/// Of the loss and its gradient: 12 T outputs.
Flops loss_flops(Count outputs, Count tokens);

}  // namespace shardlings::model
