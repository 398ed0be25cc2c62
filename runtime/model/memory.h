/// \file
/// How many bytes the calls of a layer hold, as formulas: what lessons teach and budgets are made from.
///
/// Let e be the bytes of an element: 4 in f32, 2 in bf16. For T tokens (rows of the input: s b), width `in` and `out`,
/// let A = e T in, Y = e T out (bytes). For a block (in = out = h), A = e T h, and P = e b heads s s the attention's
/// probabilities. The statistics of a layer norm, mean and 1/deviation of each row, are f32 in any case: 8 T. What a
/// call holds includes what it returns, and what it uses up from the moment it is given; it does not include x, the
/// weights and their gradients, which are the caller's all along.
///
/// | layer       | saved           | forward, saving | forward, not saving | backward                     |
/// |-------------|-----------------|-----------------|---------------------|------------------------------|
/// | linear      | 0               | Y               | Y                   | Y + A                        |
/// | linear_gelu | Y               | 2 Y             | 2 Y                 | max(3 Y, Y + A)              |
/// | embedding   | 0               | Y               | Y                   | Y                            |
/// | block       | 15 A + P + 16 T | 16 A + P + 16 T | 9 A                 | 20 A + P + 16 T              |
/// | head        | A + 8 T         | A + 8 T + Y     | A + Y               | max(Y + A, 2 A) + 8 T        |
///
/// - linear_gelu saves z, the input of the GELU. Backward: gradient, z and the gradient of z at once (3 Y); later the
///   gradients of z and of x (Y + A).
/// - block saves, in this order: normed x (A) and its statistics, qkv (3 A), context (A), probabilities (P), x plus
///   attention (A), that normed (A) and its statistics, the input and the output of the GELU (4 A each): the list of
///   model/activations.h without x. With x these are the 16 A of Korthikanti et al. 2022 (equation 1, without
///   dropout masks and for 4-byte numbers).
///   Forward holds all of it and its output at the end; without saving, most are x plus attention (A) and both sides of
///   the GELU (4 A each). Backward starts with the gradient and all that is saved (16 A + P + 16 T), drops the GELU's
///   output, and needs most when it has the gradients of both sides of the GELU (4 A each).
/// - head saves the normed input (A) and its statistics. Backward: the logits' gradient (Y) and first the saved, then
///   the gradient of the normed (A); once Y is gone, that and the gradient of x (2 A).
/// - loss works in the memory of the logits; update and the others need nothing.
///
/// Of a backward in two halves, backward_input leaves K in the Saved for backward_weights: the inputs of products and
/// the gradients of their outputs, and V = 8 h for each norm, the sums of the gradients of its two vectors (f32 in any
/// case):
///
/// | layer       | K                | backward_input                                                       |
/// |-------------|------------------|----------------------------------------------------------------------|
/// | linear      | Y                | Y + A                                                                |
/// | linear_gelu | Y                | max(3 Y, Y + A)                                                      |
/// | embedding   | Y                | Y                                                                    |
/// | block       | 16 A + 2 V       | 24 A + P + 16 T, if that is more than 20 A + P + 8 T + V and         |
/// |             |                  | 18 A + 8 T + 2 V                                                     |
/// | head        | A + Y + V        | Y + 3 A + 8 T + V                                                    |
///
/// - With 2 bytes for an element the 16 A are the 32 s b h that table 1 of Qi et al. 2024 (arXiv 2401.10241) has for W.
/// - block: at the GELU the gradients of both its sides beside all that is saved but x, and the gradient of the output:
///   16 A + P + 16 T + 8 A; backward has freed the GELU's output (4 A) by then. In the attention's backward P, and the
///   gradients of context (A), queries, keys and values (3 A) beside them. At the end the first norm's two gradients.
/// - backward_weights holds K at its beginning, and no more later. Where gradients of weights are bf16, adding a norm's
///   sums takes V once more.
///
/// Of a block divided over a tensor-parallel group, let Q = 4 T attended and M = 4 T wide be this rank's (A and 4 A if
/// it is whole); P counts its heads. It saves 3 A + 4 Q + 2 M + P + 16 T = S; forward holds S + A, or without saving
/// the most of A + 2 M, 2 A + M and A + 3 Q; backward S + A + M. For weights it keeps K = 4 A + 4 Q + 2 M + 2 V, and
/// backward_input holds the most of S + A + 2 M, 6 A + 4 Q + 2 M + P + 16 T + V (at the second norm),
/// 4 A + 8 Q + 2 M + P + 8 T + V and K + 2 A + 8 T. A divided head has Y of its own part of the
/// vocabulary. Then loss holds Y and three numbers for each token, or later two and one for each id of the vocabulary.
///
/// Llama's blocks have formulas of their own: model/llama.h. For their backward in two halves there is none: 0. Its
/// head has one number of statistics for each row, 4 T.
#pragma once

#include "base/units.h"
#include "model/structure.h"

namespace shardlings::model {

/// What forward returns, for `tokens` rows of input.
Bytes output_bytes(const LayerStructure& layer, Count tokens, DType dtype = DType::f32);
/// What forward takes: (s, b, in), or ids (s, b), which are i32.
Bytes input_bytes(const LayerStructure& layer, Count tokens, DType dtype = DType::f32);
/// What forward leaves in a Saved. `tokens` are s b; `batch` is b.
Bytes saved_bytes(const LayerStructure& layer, Count tokens, Count batch, DType dtype = DType::f32);
/// The most that a call of forward holds at once, with its output and (if `saving`) what it saves.
Bytes forward_peak(const LayerStructure& layer, Count tokens, Count batch, bool saving, DType dtype = DType::f32);
/// The most that a call of backward holds at once, with the gradient it is given, the Saved, and what it returns.
Bytes backward_peak(const LayerStructure& layer, Count tokens, Count batch, DType dtype = DType::f32);
/// What backward_input leaves in a Saved: all that backward_weights holds.
Bytes kept_bytes(const LayerStructure& layer, Count tokens, DType dtype = DType::f32);
/// The most that a call of backward_input holds at once, with the gradient it is given, the Saved before and after, and
/// what it returns.
Bytes backward_input_peak(const LayerStructure& layer, Count tokens, Count batch, DType dtype = DType::f32);
/// backward_weights reads the layer's input x; else it finds all that it needs in the Saved.
bool weights_read_x(const LayerStructure& layer);
/// The most that loss holds at once, with the logits that it is given; `vocabulary` is that of all ranks. All f32.
Bytes loss_peak(const LayerStructure& head, Count vocabulary, Count tokens);

}  // namespace shardlings::model
