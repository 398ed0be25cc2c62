/// \file
/// Operations on tensors of one rank. Matrices are (rows, cols) as Shape::rows() and cols() see the last dimension.
///
/// Operations that return a Tensor allocate it, with kind `activation` unless said otherwise; operations with a View
/// write into it. `..._add` adds to what is there. A result belongs to the micro-batch of its first input.
///
/// Where nothing else is said, tensors are in the device's memory and of one type, f32 or bf16: an operation computes
/// in f32 and rounds once, when it stores. A sum that is added to may be f32 where what is added is bf16. Scalars on
/// the device are f32 tensors of one element. A result may be the very range that an input is where no element is read
/// after another was written, and overlap nothing otherwise.
///
/// All of them throw InvalidArgument if shapes or types do not fit, if a tensor is none (moved from, freed, never made;
/// one of 0 elements is a tensor), or if tensors belong to different ranks; MisuseError(race) on a tensor in flight;
/// Aborted if the run has failed on another rank; and those that allocate, OutOfMemory. Times: docs/reference/clock.md.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings {

/// Which factors of a matrix product are transposed: first letter for a, second for b.
enum class Trans : std::uint8_t { nn, nt, tn, tt };
using enum Trans;

/// \name Matrix products
/// op(a) is (m, k), op(b) is (k, n), their product (m, n), where op() is the transpose if `trans` says so. 2mnk flops.
/// With weights (out, in), forward is nt.
/// @{

/// op(a) op(b). Where a is not transposed (nn, nt), the result has a's shape but for the last extent, which is n:
/// (s, b, k) gives (s, b, n). Otherwise (tn, tt) it is (m, n). Its type is that of a and b, which must be the same.
SHARDLINGS_API Tensor matmul(ConstView a, ConstView b, Trans trans, Location at = Location::current());
/// c += op(a) op(b). c is (m, n), or any shape of so many rows and columns, or flat with m n elements; its type is that
/// of a and b, or f32.
SHARDLINGS_API void matmul_add(View c, ConstView a, ConstView b, Trans trans, Location at = Location::current());
/// @}

/// \name Element by element
/// Two tensors of one operation have the same number of elements; their shapes may differ.
/// @{

/// A copy of its own, with the same shape, dtype and kind.
SHARDLINGS_API Tensor clone(ConstView x, Location at = Location::current());
/// A copy in another dtype, of the same shape; f32 to bf16 rounds to nearest even. Not to or from 8 bits: quantize().
SHARDLINGS_API Tensor cast(ConstView x, DType dtype, Location at = Location::current());
/// y = x, in y's dtype: cast() into a tensor that is there.
SHARDLINGS_API void cast_into(View y, ConstView x, Location at = Location::current());
/// y = x, of the same dtype. Also to, from and in the host's memory; the program waits for such a copy (see host.h for
/// others).
SHARDLINGS_API void copy(View y, ConstView x, Location at = Location::current());
/// Every element of y = value, rounded to y's dtype, which may be any.
SHARDLINGS_API void fill(View y, float value, Location at = Location::current());
/// y += x. Of one type: f32, bf16 or i32.
SHARDLINGS_API void add(View y, ConstView x, Location at = Location::current());
/// y += alpha x.
SHARDLINGS_API void axpy(View y, float alpha, ConstView x, Location at = Location::current());
/// y *= factor.
SHARDLINGS_API void scale(View y, float factor, Location at = Location::current());
/// y *= factor[0]: the factor, f32, stays on the device.
SHARDLINGS_API void scale_by(View y, ConstView factor, Location at = Location::current());
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GELU, tanh form (Hendrycks and Gimpel 2016, section 2).
SHARDLINGS_API Tensor gelu(ConstView x, Location at = Location::current());
/// Gradient of gelu's input x from that of its result.
SHARDLINGS_API Tensor gelu_backward(ConstView x, ConstView grad, Location at = Location::current());
/// max(x, 0) (Nair and Hinton 2010).
SHARDLINGS_API Tensor relu(ConstView x, Location at = Location::current());
/// Gradient of relu's input x from that of its result: grad where x > 0, otherwise 0.
SHARDLINGS_API Tensor relu_backward(ConstView x, ConstView grad, Location at = Location::current());
/// Standard normal numbers times `deviation`: element i depends only on seed and first + i, so that shards agree.
/// throws: InvalidArgument also for a negative `first`.
SHARDLINGS_API void random_normal(View y, std::uint64_t seed, Count first, float deviation,
                                  Location at = Location::current());
/// Which random numbers a tensor of shape (s, b, w) draws: its element (i, j, k) draws number
/// first + i by_position + j by_sequence + k of a stream. So a part can draw what it would draw inside the whole.
struct Draws {
  std::uint64_t seed = 0;    ///< with `stream` it says which numbers: those of any other pair look independent
  std::uint64_t stream = 0;  ///< for instance one for each layer and step
  Count first = 0;           ///< the number that element (0, 0, 0) draws
  Count by_position = 0;     ///< how far it is from one position to the next
  Count by_sequence = 0;     ///< how far it is from one sequence to the next
};
/// Dropout (Srivastava et al. 2014), where x is (s, b, w): an element becomes 0 where its number is below `rate`, and
/// is divided by 1 - rate elsewhere. Numbers are uniform in [0, 1). The same call on a gradient is its backward, so
/// nobody has to keep a mask. throws: InvalidArgument also for a rate outside [0, 1), for negative numbers in `draws`,
/// and where `first`, s by_position or b by_sequence is 2^60 or more.
SHARDLINGS_API void dropout(View x, float rate, Draws draws, Location at = Location::current());
/// @}

/// \name Numbers in 8 bits
/// A number is stored as a code of type e4m3, and the 32 numbers of a scaling block share a scale of type e8m0, a power
/// of two: number = scale x code. That is the format MXFP8 of the OCP Microscaling Formats specification 1.0.
///
/// e4m3 has a sign, 4 bits of exponent and 3 of mantissa: 0, multiples of 2^-9 up to 2^-6, and then 8 numbers for each
/// power of two, up to 448; NaN, but no infinity. e8m0 has 2^-127 to 2^127, and NaN.
///
/// Blocks are counted over a whole tensor, such as the weights of a layer. A part of it says at which element it
/// begins, `first`: element i of x belongs to block (first + i) / 32, whose scale is element (first + i) / 32 of
/// `scales`. Two parts may share a block. throws: InvalidArgument also if `first` is negative, or `scales` has too few
/// elements.
/// @{

/// How many consecutive numbers share a scale.
inline constexpr Count kScalingBlock = 32;
/// How many scaling blocks n numbers have; the last one may be shorter.
constexpr Count scaling_blocks(Count n) {
  return n / kScalingBlock + (n % kScalingBlock != 0 ? 1 : 0);
}
/// Writes into `scales` (e8m0) what the elements of x (f32 or bf16) need: of each block the least power of two with
/// which none of its elements in x is beyond 448. It is 2^-127, the least there is, for blocks that have no element in
/// x or only zeros; NaN where x has an infinity or NaN.
SHARDLINGS_API void block_scales(View scales, ConstView x, Count first, Location at = Location::current());
/// y = x / scale, as codes: y is e4m3, x f32 or bf16, with as many elements. Rounds to nearest, to the even one of two
/// codes that are as near; beyond 448 the code is that of 448 (saturation). NaN stays NaN, and a scale of NaN gives it.
SHARDLINGS_API void quantize(View y, ConstView x, ConstView scales, Count first, Location at = Location::current());
/// y = scale x code: y is f32 or bf16, `codes` e4m3, with as many elements. Nothing is rounded, unless it leaves y's
/// range.
SHARDLINGS_API void dequantize(View y, ConstView codes, ConstView scales, Count first,
                               Location at = Location::current());
/// @}

/// \name Rows and columns
/// x is (rows, cols); `row` has one element for each row. Ids are i32, one for each row; `columns` says which of a
/// wider matrix's columns x has, as many as it has.
/// @{

/// x += bias (cols) in every row.
SHARDLINGS_API void add_bias(View x, ConstView bias, Location at = Location::current());
/// sum (cols) += sum over the rows of x: the gradient of a bias.
SHARDLINGS_API void sum_rows_add(View sum, ConstView x, Location at = Location::current());
/// The largest element of each row: (rows).
SHARDLINGS_API Tensor row_max(ConstView x, Location at = Location::current());
/// The sum of each row: (rows).
SHARDLINGS_API Tensor row_sum(ConstView x, Location at = Location::current());
/// x[i][j] = exp(x[i][j] - row[i]).
SHARDLINGS_API void exp_minus_row(View x, ConstView row, Location at = Location::current());
/// x[i][j] /= row[i].
SHARDLINGS_API void divide_rows(View x, ConstView row, Location at = Location::current());
/// x[i][j] *= row[i].
SHARDLINGS_API void scale_rows(View x, ConstView row, Location at = Location::current());
/// Element `ids[i] - columns.begin` of row i, or 0 where ids[i] is outside `columns` (or negative): (rows).
SHARDLINGS_API Tensor pick(ConstView x, ConstView ids, Range columns, Location at = Location::current());
/// Adds `value` to element `ids[i] - columns.begin` of row i, where ids[i] is inside `columns`.
SHARDLINGS_API void add_at(View x, ConstView ids, Range columns, float value, Location at = Location::current());
/// Where the k elements of each row lie whose absolute values are largest: their numbers in x, row cols + column, in
/// ascending order, (rows, k), i32. Of equal values the first ones are taken; NaN is larger than all numbers. With x as
/// a table of x.size() rows of one element, embedding() brings these elements, and embedding_backward_add() adds to
/// them. throws: InvalidArgument also unless 1 <= k <= cols, and for an x of 2^31 elements or more.
SHARDLINGS_API Tensor top_k(ConstView x, Count k, Location at = Location::current());
/// Columns [range.begin, range.end) of x, of any type, as a tensor of their own; the other extents stay.
SHARDLINGS_API Tensor slice_cols(ConstView x, Range range, Location at = Location::current());
/// Up to 8 tensors of any one type and as many rows, side by side:
/// the first one's shape, but for the last extent.
SHARDLINGS_API Tensor concat_cols(std::initializer_list<ConstView> parts, Location at = Location::current());
/// Up to 8 tensors of any one type and as many columns, one below another:
/// the first one's extents but for the first, if all parts have them, otherwise a matrix.
SHARDLINGS_API Tensor concat_rows(std::initializer_list<ConstView> parts, Location at = Location::current());
/// exp(x[i][j]) / sum over j of exp(x[i][j]), after the row's maximum was subtracted, so that nothing overflows.
SHARDLINGS_API Tensor softmax(ConstView x, Location at = Location::current());
/// Gradient of softmax's input from its result y and the gradient of that: y (grad - sum over the row of y grad).
SHARDLINGS_API Tensor softmax_backward(ConstView y, ConstView grad, Location at = Location::current());
/// @}

/// \name Layers of a transformer
/// @{

/// (x - mean) / sqrt(variance + 1e-5) * weight + bias over each row (Ba et al. 2016); weight and bias have x's cols.
/// `stats`, if given, receives mean and 1/deviation: (2, rows), f32.
SHARDLINGS_API Tensor layer_norm(ConstView x, ConstView weight, ConstView bias, Tensor* stats,
                                 Location at = Location::current());
/// Returns the gradient of layer_norm's x and adds those of weight and bias; `stats` as layer_norm made it.
SHARDLINGS_API Tensor layer_norm_backward(ConstView x, ConstView weight, ConstView stats, ConstView grad,
                                          View grad_weight, View grad_bias, Location at = Location::current());
/// Causal multi-head attention, softmax(q k^T / sqrt(head size)) v (Vaswani et al. 2017, section 3.2). qkv is (s, b, 3
/// w): queries, keys, values, each w = heads x head size wide. Returns (s, b, w). `inner`, if given, receives what the
/// backward needs: (b, heads, s, s) probabilities. 4 b s^2 w flops: those of the full products.
/// throws: InvalidArgument also if `heads` does not divide w.
SHARDLINGS_API Tensor attention(ConstView qkv, int heads, Tensor* inner, Location at = Location::current());
/// Gradient of qkv, (s, b, 3 w), from that of the result, (s, b, w). Uses `inner` up. 8 b s^2 w flops.
SHARDLINGS_API Tensor attention_backward(ConstView qkv, int heads, Tensor&& inner, ConstView grad,
                                         Location at = Location::current());
/// Where the queries and keys of partial_attention() stand in their sequence. Positions lie between 0 and 2^30.
struct AttentionPart {
  int heads = 1;          ///< of the queries
  Count first_query = 0;  ///< position of the first query; the others follow it
  Count first_key = 0;    ///< position of the first key; the others follow it
  Count document = 0;     ///< position at which the queries' document begins: no key before it is seen
};
/// Causal attention of n queries over m keys of the same b sequences, as flash attention makes it of its tiles (Dao et
/// al. 2022, section 3.1). q is (n, b, h); kv is (2 m, b, u): m keys and, below them, their m values. Heads of keys are
/// as wide as those of queries. If there are fewer of them, as many consecutive heads of queries share each (Ainslie et
/// al. 2023, section 2.2). A query sees the keys at its own position and before it, as far as its document reaches.
/// Returns softmax(q k^T / sqrt(head size)) v over the keys that are seen, (n, b, h). `lse`, if given, receives
/// log(sum of exp(q k^T / sqrt(head size))) over them, (n, b, heads), f32. A query that sees no key gets 0, and
/// -infinity in lse. 4 h b flops for each pair of a query and a key that it sees; other pairs cost nothing.
/// throws: InvalidArgument also if heads do not fit, or positions leave their bounds.
SHARDLINGS_API Tensor partial_attention(ConstView q, ConstView kv, AttentionPart part, Tensor* lse,
                                        Location at = Location::current());
/// Adds to the gradients of q and kv what these queries and keys contribute, from the gradient of y. `y` and `lse` are
/// those over ALL keys that the queries see in any part (Dao et al. 2022, appendix B.2). grad_q and grad_kv have the
/// type of q, or f32. 10 h b flops for each pair: q k^T is computed again.
SHARDLINGS_API void partial_attention_backward_add(View grad_q, View grad_kv, ConstView q, ConstView kv, ConstView y,
                                                   ConstView lse, ConstView grad_y, AttentionPart part,
                                                   Location at = Location::current());
/// Joins the attention of the same queries over two parts of the keys: y and lse become those over both. y may be f32
/// where other_y is bf16, so that it is rounded once in the end. Zeros with -infinity are the attention over no key.
SHARDLINGS_API void merge_attention(View y, View lse, ConstView other_y, ConstView other_lse,
                                    Location at = Location::current());
/// Row ids[i] - rows.begin of `table` (rows.size(), h) for every id (i32), or zeros where ids[i] is outside `rows`.
/// The result is (s, b, h) for ids (s, b). `rows` says which rows of the vocabulary the table has: all of it, or a
/// part. So it gathers rows by index, whatever they are: tokens that are dealt to experts, too.
SHARDLINGS_API Tensor embedding(ConstView ids, ConstView table, Range rows, Location at = Location::current());
/// Adds row i of grad (s, b, h) to row ids[i] - rows.begin of grad_table, for ids inside `rows`. Rows with the same id
/// are added in the order of i, on every backend.
SHARDLINGS_API void embedding_backward_add(View grad_table, ConstView ids, Range rows, ConstView grad,
                                           Location at = Location::current());
/// x (s, b, h) += positions (s, h), the same for every b.
SHARDLINGS_API void add_positions(View x, ConstView positions, Location at = Location::current());
/// grad_positions (s, h) += sum over b of grad (s, b, h): the gradient of positions.
SHARDLINGS_API void sum_positions_add(View grad_positions, ConstView grad, Location at = Location::current());
/// @}

/// \name Loss
/// Targets are i32, one for each row of logits; a negative one counts for nothing. `loss` is a scalar on the device.
/// throws: InvalidArgument also for less than one token.
/// @{

/// loss += sum over the rows of (log(sum of exp(logits)) - logits[target]) / tokens; the logits, (rows, vocabulary),
/// become their gradient, which is returned: (softmax(logits) - 1 at the target) / tokens.
SHARDLINGS_API Tensor cross_entropy(Tensor&& logits, ConstView targets, Count tokens, View loss,
                                    Location at = Location::current());
/// loss += sum over i of (log(sum[i]) + top[i] - hit[i]) / tokens, where targets[i] >= 0: for a split vocabulary. By
/// row i of the logits: top[i] is their maximum, sum[i] that of exp(logits - top[i]), hit[i] the logit of the target.
SHARDLINGS_API void loss_add(View loss, ConstView sum, ConstView hit, ConstView top, ConstView targets, Count tokens,
                             Location at = Location::current());
/// @}

/// \name Optimizers
/// Everything that depends on the data stays on the device: clip factor, finite flag, sum of squares.
/// @{

/// The numbers of one step of adam(), by the names of Kingma and Ba 2015, algorithm 1.
struct AdamStep {
  float lr = 1e-3F;        ///< alpha, the learning rate
  float beta1 = 0.9F;      ///< what m keeps of itself
  float beta2 = 0.999F;    ///< what v keeps of itself
  float eps = 1e-8F;       ///< added to sqrt(v)
  float weight_decay = 0;  ///< decoupled (Loshchilov and Hutter 2019)
  int step = 1;            ///< from 1; for the correction of the bias
};
/// Adam (Kingma and Ba 2015, algorithm 1) on ranges of equal length, all f32, but for the gradient, which may be bf16.
/// Writes w, m and v; the gradient is only read.
/// On tensors of the host's memory, the host's processor does it, while the program waits.
/// `factor`, if given, multiplies the gradient; if `skip` is given and skip[0] is not 0, nothing changes.
/// throws: InvalidArgument also for a step below 1.
SHARDLINGS_API void adam(View w, ConstView grad, View m, View v, AdamStep step, ConstView factor = {},
                         ConstView skip = {}, Location at = Location::current());
/// w -= lr factor grad: w is f32, the gradient f32 or bf16. `factor`, if given, is one number on the device.
SHARDLINGS_API void sgd(View w, ConstView grad, float lr, ConstView factor = {}, Location at = Location::current());
/// total[0] += sum of squares of x; total is f32.
SHARDLINGS_API void add_squares(View total, ConstView x, Location at = Location::current());
/// min(1, limit / sqrt(squares[0])), as a scalar on the device; 0 for infinite squares, NaN for NaN. Clipping
/// by the norm: Pascanu et al. 2013, algorithm 1. throws: InvalidArgument also if the limit is not above 0.
SHARDLINGS_API Tensor clip_factor(ConstView squares, float limit, Location at = Location::current());
/// flag[0] = 1 if x holds an infinity or NaN; otherwise it stays. flag is f32.
SHARDLINGS_API void flag_nonfinite(View flag, ConstView x, Location at = Location::current());
/// @}

}  // namespace shardlings
