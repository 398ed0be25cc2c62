/// \file
/// The computations that every device offers, and what a Kernel's arguments mean for each.
///
/// Matrices are row-major and contiguous unless a stride is given. `dtype` is the type of all operands of which
/// nothing else is said; f32 unless more are listed. Sums of bf16 are made in f32 and rounded once. No kernel needs
/// memory to be initialised that it only writes. All extents may be 0.
#pragma once

#include "back/kernels/kernels.h"

namespace shardlings::back {

enum class KernelId : std::uint16_t {
  // Moving and making
  copy,       ///< out[0] = in[0] (may overlap); n: bytes. Any dtype
  copy_rows,  ///< out[0] = in[0], row by row; n: rows, bytes of a row, stride of out, stride of in (bytes). Any dtype
  fill,       ///< out[0] = f[0]; n: count. Any dtype; e4m3 rounds as quantize does, e8m0 up to a power of two
  cast,       ///< out[0] = in[0]; n: count, DType of out; dtype is that of in. f32, bf16, i32
  /// out[0] = f[0] * standard normal; n: count, seed (its bits), number of the first element. f32, bf16
  random_normal,

  /// out[0] = in[0] op in[1] op … in this order; n: count, inputs (at most 8), ReduceOp, divisor of a mean (the number
  /// of all inputs), 1 if in[0] is the f32 partial result of earlier inputs, 1 if out[0] shall be one (then a mean is
  /// not divided yet). out[0] may be one of the inputs. f32, bf16, i32 (whose partial results are i32), e8m0 (only max;
  /// partial results are e8m0)
  reduce,

  // Element by element: f32 and bf16
  add,            ///< out[0] += in[0]; n: count. Also i32
  axpy,           ///< out[0] += f[0] in[0]; n: count
  scale,          ///< out[0] *= f[0]; n: count
  scale_by,       ///< out[0] *= in[0][0] (f32); n: count
  gelu,           ///< out[0] = gelu(in[0]); n: count
  gelu_backward,  ///< out[0] = in[1] gelu'(in[0]); n: count
  relu,           ///< out[0] = max(in[0], 0); n: count
  relu_backward,  ///< out[0] = in[0] > 0 ? in[1] : 0; n: count
  /// out[0] (s, b, w) *= f[0], or = 0 where the number drawn is below f[1]; n: s, b, w, seed and stream (their bits),
  /// first, by_position, by_sequence, as Draws has them
  dropout,

  // Numbers in 8 bits with scales, as shardlings/ops.h has them; element i belongs to block (n[1] + i) / 32
  block_scales,  ///< out[0]: scales (e8m0); in[0]: x (f32, bf16); n: count of x, first, count of scales
  quantize,      ///< out[0]: codes (e4m3); in: x (f32, bf16), scales; n: count, first
  dequantize,    ///< out[0]: y (f32, bf16: dtype); in: codes, scales; n: count, first

  /// out[0] (m, n) = op(in[0]) op(in[1]), or +=
  /// n: m, n, k, 1 if in[0] is transposed, 1 if in[1] is, 1 to add, DType of out (f32, or dtype)
  /// f32, bf16
  matmul,

  // Rows: n: rows, cols, …; f32 and bf16
  add_bias,          ///< out[0] (rows, cols) += in[0] (cols)
  sum_rows_add,      ///< out[0] (cols) += sum over rows of in[0]; n[2]: DType of out (f32, or dtype)
  row_max,           ///< out[0] (rows) = max of each row of in[0]
  row_sum,           ///< out[0] (rows) = sum of each row of in[0]
  exp_minus_row,     ///< out[0] = exp(out[0] - in[0][row])
  divide_rows,       ///< out[0] /= in[0][row]
  scale_rows,        ///< out[0] *= in[0][row]
  pick,              ///< out[0][i] = in[0][i, ids[i] - begin] or 0; in[1]: ids (i32); n[2], n[3]: begin, end
  add_at,            ///< out[0][i, ids[i] - begin] += f[0] where inside; in[0]: ids (i32); n[2], n[3]: begin, end
  /// out[0] (rows, n[2]; i32) = row cols + column of the n[2] elements of each row of in[0] whose absolute values are
  /// largest, ascending; of equal ones the first, and NaN above all
  top_k,
  softmax,           ///< out[0] = softmax of each row of in[0]
  softmax_backward,  ///< out[0] = y (grad - sum(y grad)) by rows; in: y, grad

  // Layers: f32 and bf16
  /// out: y, stats (f32, (2, rows): mean, 1/deviation; may be null); in: x, weight, bias; n: rows, cols; f: epsilon
  layer_norm,
  /// out: grad_weight +=, grad_bias +=, grad of x; in: x, weight, stats (f32), grad; n: rows, cols, DType of
  /// grad_weight and grad_bias (f32, or dtype)
  layer_norm_backward,
  /// Causal. out: y (s, b, w), probabilities (b, heads, s, s; may be null); in: qkv (s, b, 3w); n: s, b, heads, w
  attention,
  /// out: grad of qkv; in: qkv, probabilities, grad of y; n: s, b, heads, w
  attention_backward,
  /// Causal, of some queries over some keys. out: y (n, b, heads d), lse (f32, (n, b, heads); may be null); in: q
  /// (n, b, heads d), k, v (m, b, key heads d); n: n, m, b, heads, key heads, d, position of the first query minus that
  /// of the first key
  partial_attention,
  /// out: grads of q, k, v, all +=; in: q, k, v, y, lse (f32), grad of y; n: as above, DType of the grads (f32, or
  /// dtype)
  partial_attention_backward_add,
  /// out: y (rows, d), lse (f32, (rows)), joined with in: other y, its lse (f32); n: rows, d, DType of y (f32, or
  /// dtype)
  merge_attention,
  /// out[0] (count, h) = rows ids[i] - begin of in[1], or zeros; in[0]: ids (i32); n: count, h, begin, end
  embedding,
  /// out[0][ids[i] - begin] += in[1][i] where inside; in[0]: ids (i32); n: count, h, begin, end, DType of out
  embedding_backward_add,
  add_positions,      ///< out[0] (s, b, h) += in[0] (s, h); n: s, b, h
  sum_positions_add,  ///< out[0] (s, h) += sum over b of in[0] (s, b, h); n: s, b, h, DType of out (f32, or dtype)

  // Loss and optimizer
  /// out: logits (rows, cols), which become their gradient; loss[0] (f32) += sum of cross entropy / tokens;
  /// in: targets (i32; negative: not counted; too large: NaN); n: rows, cols, tokens. f32, bf16
  cross_entropy,
  loss_add,  ///< out: loss (f32); in: sum, hit, top, targets (i32); n: count, tokens. f32, bf16
  /// out: w, m, v (f32); in: grad (f32, bf16), factor or null, skip or null (f32); n: count, step; f: lr, beta1, beta2,
  /// eps, decay
  adam,
  sgd,             ///< out: w (f32); in: grad (f32, bf16), factor or null (f32); n: count; f: lr
  add_squares,     ///< out[0][0] (f32) += sum of squares of in[0]; n: count. f32, bf16
  clip_factor,     ///< out[0][0] = min(1, f[0] / sqrt(in[0][0]))
  flag_nonfinite,  ///< out[0][0] (f32) = 1 if in[0] holds an infinity or NaN; n: count. f32, bf16

  count_
};

inline constexpr int kKernels = static_cast<int>(KernelId::count_);

}  // namespace shardlings::back
