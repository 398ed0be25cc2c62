/// \file
/// Operations on tensors of one rank. Matrices are (rows, cols) as Shape::rows() and cols() see the last dimension.
///
/// Operations that return a Tensor allocate it, with kind `activation` unless said otherwise; operations with a View
/// write into it. `..._add` adds to what is there. A result belongs to the micro-batch of its first input.
/// All of them throw InvalidArgument if shapes or types do not fit, and MisuseError(race) on a tensor in flight.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings {

/// Which factors of a matrix product are transposed: first letter for a, second for b.
enum class Trans : std::uint8_t { nn, nt, tn, tt };
using enum Trans;

/// \name Matrix products
/// op(a) is (m, k), op(b) is (k, n), their product (m, n). 2mnk flops. With weights (out, in), forward is nt.
/// @{
/// Where a is not transposed (nn, nt), the result has a's shape, but for the last extent, which is n: (s, b, k) gives
/// (s, b, n). Otherwise (tn, tt) it is (m, n). Its type is that of a and b, which must be the same.
SHARDLINGS_API Tensor matmul(ConstView a, ConstView b, Trans trans, Location at = Location::current());
/// c += the product. c is (m, n), or any shape of so many rows and columns, or flat with m n elements; its type is that
/// of a and b, or f32.
SHARDLINGS_API void matmul_add(View c, ConstView a, ConstView b, Trans trans, Location at = Location::current());
/// @}

/// \name Element by element
/// @{
/// A copy of its own, with the same shape, dtype and kind.
SHARDLINGS_API Tensor clone(ConstView x, Location at = Location::current());
/// A copy in another dtype; f32 to bf16 rounds to nearest even.
SHARDLINGS_API Tensor cast(ConstView x, DType dtype, Location at = Location::current());
SHARDLINGS_API void cast_into(View y, ConstView x, Location at = Location::current());
/// y = x. Also to, from and in the host's memory; the program waits for such a copy (see host.h for others).
SHARDLINGS_API void copy(View y, ConstView x, Location at = Location::current());
SHARDLINGS_API void fill(View y, float value, Location at = Location::current());
/// y += x. Types f32 and i32.
SHARDLINGS_API void add(View y, ConstView x, Location at = Location::current());
/// y += alpha x.
SHARDLINGS_API void axpy(View y, float alpha, ConstView x, Location at = Location::current());
SHARDLINGS_API void scale(View y, float factor, Location at = Location::current());
/// y *= factor[0]: the factor stays on the device.
SHARDLINGS_API void scale_by(View y, ConstView factor, Location at = Location::current());
/// GELU, tanh form (Hendrycks and Gimpel 2016, section 2), and its gradient from the input x.
SHARDLINGS_API Tensor gelu(ConstView x, Location at = Location::current());
SHARDLINGS_API Tensor gelu_backward(ConstView x, ConstView grad, Location at = Location::current());
SHARDLINGS_API Tensor relu(ConstView x, Location at = Location::current());
SHARDLINGS_API Tensor relu_backward(ConstView x, ConstView grad, Location at = Location::current());
/// Standard normal numbers times `deviation`: element i depends only on seed and first + i, so that shards agree.
SHARDLINGS_API void random_normal(View y, std::uint64_t seed, Count first, float deviation,
                                  Location at = Location::current());
/// @}

/// \name Rows and columns
/// x is (rows, cols); a "row vector" has one element for each row.
/// @{
/// x += bias (cols) in every row.
SHARDLINGS_API void add_bias(View x, ConstView bias, Location at = Location::current());
/// sum (cols) += sum over the rows of x: the gradient of a bias.
SHARDLINGS_API void sum_rows_add(View sum, ConstView x, Location at = Location::current());
SHARDLINGS_API Tensor row_max(ConstView x, Location at = Location::current());
SHARDLINGS_API Tensor row_sum(ConstView x, Location at = Location::current());
/// x = exp(x - row), row by row.
SHARDLINGS_API void exp_minus_row(View x, ConstView row, Location at = Location::current());
SHARDLINGS_API void divide_rows(View x, ConstView row, Location at = Location::current());
/// Element `ids[i] - columns.begin` of row i, or 0 where ids[i] is outside `columns` (or negative).
SHARDLINGS_API Tensor pick(ConstView x, ConstView ids, Range columns, Location at = Location::current());
/// Adds `value` to element `ids[i] - columns.begin` of row i, where ids[i] is inside `columns`.
SHARDLINGS_API void add_at(View x, ConstView ids, Range columns, float value, Location at = Location::current());
/// Columns [range.begin, range.end) as a tensor of their own, and several tensors side by side or one below another.
SHARDLINGS_API Tensor slice_cols(ConstView x, Range range, Location at = Location::current());
SHARDLINGS_API Tensor concat_cols(std::initializer_list<ConstView> parts, Location at = Location::current());
SHARDLINGS_API Tensor concat_rows(std::initializer_list<ConstView> parts, Location at = Location::current());
SHARDLINGS_API Tensor softmax(ConstView x, Location at = Location::current());
/// Gradient of softmax from its result y.
SHARDLINGS_API Tensor softmax_backward(ConstView y, ConstView grad, Location at = Location::current());
/// @}

/// \name Layers of a transformer
/// @{
/// (x - mean) / sqrt(variance + 1e-5) * weight + bias over each row (Ba et al. 2016).
/// `stats`, if given, receives mean and 1/deviation: (2, rows).
SHARDLINGS_API Tensor layer_norm(ConstView x, ConstView weight, ConstView bias, Tensor* stats,
                                 Location at = Location::current());
/// Returns the gradient of x and adds those of weight and bias.
SHARDLINGS_API Tensor layer_norm_backward(ConstView x, ConstView weight, ConstView stats, ConstView grad,
                                          View grad_weight, View grad_bias, Location at = Location::current());
/// Causal multi-head attention. qkv is (s, b, 3 w): queries, keys, values, each w = heads x head size wide.
/// Returns (s, b, w). `inner`, if given, receives what the backward needs: (b, heads, s, s) probabilities.
SHARDLINGS_API Tensor attention(ConstView qkv, int heads, Tensor* inner, Location at = Location::current());
/// Gradient of qkv, (s, b, 3 w).
SHARDLINGS_API Tensor attention_backward(ConstView qkv, int heads, Tensor&& inner, ConstView grad,
                                         Location at = Location::current());
/// Rows of `table` (ids.size() rows of h): row ids[i] - rows.begin, or zeros where ids[i] is outside `rows`.
/// The result is (s, b, h) for ids (s, b). `rows` is the whole table if the table is.
SHARDLINGS_API Tensor embedding(ConstView ids, ConstView table, Range rows, Location at = Location::current());
SHARDLINGS_API void embedding_backward_add(View grad_table, ConstView ids, Range rows, ConstView grad,
                                           Location at = Location::current());
/// x (s, b, h) += positions (s, h), the same for every b; and the gradient of it.
SHARDLINGS_API void add_positions(View x, ConstView positions, Location at = Location::current());
SHARDLINGS_API void sum_positions_add(View grad_positions, ConstView grad, Location at = Location::current());
/// @}

/// \name Loss
/// Targets are i32; a negative one counts for nothing.
/// @{
/// loss += sum over the rows of cross entropy / tokens; the logits become their gradient, which is returned.
SHARDLINGS_API Tensor cross_entropy(Tensor&& logits, ConstView targets, Count tokens, View loss,
                                    Location at = Location::current());
/// loss += sum over i of (log(sum[i]) + top[i] - hit[i]) / tokens, where targets[i] >= 0: for a split vocabulary.
SHARDLINGS_API void loss_add(View loss, ConstView sum, ConstView hit, ConstView top, ConstView targets, Count tokens,
                             Location at = Location::current());
/// @}

/// \name Optimizers
/// Everything that depends on the data stays on the device: clip factor, finite flag, sum of squares.
/// @{
struct AdamStep {
  float lr = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float eps = 1e-8F;
  float weight_decay = 0;  ///< decoupled (Loshchilov and Hutter 2019)
  int step = 1;            ///< from 1; for the correction of the bias
};
/// Adam (Kingma and Ba 2015, algorithm 1) on ranges of equal length, all f32, but for the gradient, which may be bf16.
/// On tensors of the host's memory, the host's processor does it, while the program waits.
/// `factor`, if given, multiplies the gradient; where `skip`, if given, is not 0, nothing changes.
SHARDLINGS_API void adam(View w, ConstView grad, View m, View v, AdamStep step, ConstView factor = {},
                         ConstView skip = {}, Location at = Location::current());
/// w -= lr factor grad: w is f32, the gradient f32 or bf16.
SHARDLINGS_API void sgd(View w, ConstView grad, float lr, ConstView factor = {}, Location at = Location::current());
/// total[0] += sum of squares of x.
SHARDLINGS_API void add_squares(View total, ConstView x, Location at = Location::current());
/// min(1, limit / sqrt(squares[0])), as a device scalar.
SHARDLINGS_API Tensor clip_factor(ConstView squares, float limit, Location at = Location::current());
/// flag[0] = 1 if x holds an infinity or NaN; otherwise it stays.
SHARDLINGS_API void flag_nonfinite(View flag, ConstView x, Location at = Location::current());
/// @}

}  // namespace shardlings
