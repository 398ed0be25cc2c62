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
/// Of a block divided over a tensor-parallel group, let Q = 4 T attended and M = 4 T wide be this rank's (A and 4 A if
/// it is whole); P counts its heads. It saves 3 A + 4 Q + 2 M + P + 16 T = S; forward holds S + A, or without saving
/// the most of A + 2 M, 2 A + M and A + 3 Q; backward S + A + M. A divided head has Y of its own part of the
/// vocabulary. Then loss holds Y and three numbers for each token, or later two and one for each id of the vocabulary.
///
/// Llama's blocks have formulas of their own: model/llama.h. Its head has one number of statistics for each row, 4 T.
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
/// The most that loss holds at once, with the logits that it is given; `vocabulary` is that of all ranks. All f32.
Bytes loss_peak(const LayerStructure& head, Count vocabulary, Count tokens);

}  // namespace shardlings::model
