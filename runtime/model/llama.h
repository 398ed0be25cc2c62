/// \file
/// Floating-point operations of Llama's layers (Touvron et al. 2023; Grattafiori et al. 2024), and the most that their
/// calls hold.
///
/// For T tokens of b sequences of s positions, widths h and w (the middle), and k, the width of all heads of keys:
///
/// | layer     | forward                                                              | backward                  |
/// |-----------|----------------------------------------------------------------------|---------------------------|
/// | embedding | 0: rows of the table are copied                                      | T h: they are added       |
/// | block     | T (4 h h + 4 h k + 6 h w) + 4 T s h + T (10 h + 3 (h + k) + 12 w)    | see below                 |
/// | head      | 4 T h + 2 T h V                                                      | 9 T h + 4 T h V           |
///
/// Of a block, the products are those of queries and projection (4 h h), keys and values (4 h k), and gate, middle and
/// what comes out of it (6 h w); 4 T s h are the attention's. The rest: two RMS norms and two sums with the input (10
/// h), positions turned into queries and keys (three operations a number), and SwiGLU (12 a number, by the convention
/// of model/operation_flops.h that an exp is 8). With k = h and w = 4 h the products are 32 h h instead of a GPT's 24 h
/// h.
///
/// Backward has each product twice, for the gradients of its two factors, and T (20 h + 3 (h + k) + 17 w) beside them:
/// two norms (9 a number: x over its mean square again 1, the gradient of the factor 2, its product with the factor 1,
/// the sum over the row 2, the gradient of x 3), two sums of gradients (2 h), gradients turned back, and SwiGLU (exp,
/// sum and quotient again 10, the gate's value 1, the gradient of what it opens for 1, that of the gate 5).
///
/// Bytes, with A = e T h, Q, K and M those of queries, keys and the middle, P the probabilities, S what is saved (see
/// model/activations.h), in the order of front/model/block.cpp, with one number of statistics for each row:
///
/// - forward of a block that saves: S + A. Without saving the most of A + Q + 2 K (normed x; queries, keys, values),
///   2 A + 2 M (x plus attention, that normed; gate and what it opens for) and A + 3 M (these two and their product).
/// - backward of a block: S + A + 2 M, when the gradient of the product is there and those of gate and middle come; or,
///   if the middle is narrow, S + 2 A - 3 M, when the gradients of a norm's input and output stand beside that of y.
///
/// Of a layer that is divided, each term is that of this rank's heads, part of the middle, or part of the vocabulary.
#pragma once

#include "base/units.h"
#include "model/structure.h"

namespace shardlings::model {

/// `layer` is one of Llama's; `tokens` are T, `sequence` is s.
Flops llama_forward_flops(const LayerStructure& layer, Count tokens, Count sequence);
Flops llama_backward_flops(const LayerStructure& layer, Count tokens, Count sequence);
/// Of a block of Llama's that saves nothing, and of one whose forward has saved `saved`.
Bytes llama_forward_peak(const LayerStructure& block, Count tokens, DType dtype);
Bytes llama_backward_peak(const LayerStructure& block, Count tokens, Bytes saved, DType dtype);

}  // namespace shardlings::model
