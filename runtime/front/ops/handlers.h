/// \file
/// The operations: the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/ops/op_context.h"

namespace shardlings::front::handle {

detail::Reply clone(OpContext& of, const detail::Call& call);
detail::Reply cast(OpContext& of, const detail::Call& call);
detail::Reply cast_into(OpContext& of, const detail::Call& call);
detail::Reply copy(OpContext& of, const detail::Call& call);
detail::Reply fill(OpContext& of, const detail::Call& call);
detail::Reply add(OpContext& of, const detail::Call& call);
detail::Reply axpy(OpContext& of, const detail::Call& call);
detail::Reply scale(OpContext& of, const detail::Call& call);
detail::Reply scale_by(OpContext& of, const detail::Call& call);
detail::Reply gelu(OpContext& of, const detail::Call& call);
detail::Reply gelu_backward(OpContext& of, const detail::Call& call);
detail::Reply relu(OpContext& of, const detail::Call& call);
detail::Reply relu_backward(OpContext& of, const detail::Call& call);
detail::Reply random_normal(OpContext& of, const detail::Call& call);
detail::Reply dropout(OpContext& of, const detail::Call& call);
detail::Reply block_scales(OpContext& of, const detail::Call& call);
detail::Reply quantize(OpContext& of, const detail::Call& call);
detail::Reply dequantize(OpContext& of, const detail::Call& call);
detail::Reply embedding(OpContext& of, const detail::Call& call);
detail::Reply embedding_backward_add(OpContext& of, const detail::Call& call);
detail::Reply add_positions(OpContext& of, const detail::Call& call);
detail::Reply sum_positions_add(OpContext& of, const detail::Call& call);
detail::Reply layer_norm(OpContext& of, const detail::Call& call);
detail::Reply layer_norm_backward(OpContext& of, const detail::Call& call);
detail::Reply attention(OpContext& of, const detail::Call& call);
detail::Reply attention_backward(OpContext& of, const detail::Call& call);
detail::Reply partial_attention(OpContext& of, const detail::Call& call);
detail::Reply partial_attention_backward_add(OpContext& of, const detail::Call& call);
detail::Reply merge_attention(OpContext& of, const detail::Call& call);
detail::Reply cross_entropy(OpContext& of, const detail::Call& call);
detail::Reply loss_add(OpContext& of, const detail::Call& call);
detail::Reply matmul(OpContext& of, const detail::Call& call);
detail::Reply matmul_add(OpContext& of, const detail::Call& call);
detail::Reply adam(OpContext& of, const detail::Call& call);
detail::Reply sgd(OpContext& of, const detail::Call& call);
detail::Reply add_squares(OpContext& of, const detail::Call& call);
detail::Reply clip_factor(OpContext& of, const detail::Call& call);
detail::Reply flag_nonfinite(OpContext& of, const detail::Call& call);
detail::Reply read_scalar(OpContext& of, const detail::Call& call);
detail::Reply show(OpContext& of, const detail::Call& call);
detail::Reply add_bias(OpContext& of, const detail::Call& call);
detail::Reply sum_rows_add(OpContext& of, const detail::Call& call);
detail::Reply row_max(OpContext& of, const detail::Call& call);
detail::Reply row_sum(OpContext& of, const detail::Call& call);
detail::Reply exp_minus_row(OpContext& of, const detail::Call& call);
detail::Reply divide_rows(OpContext& of, const detail::Call& call);
detail::Reply scale_rows(OpContext& of, const detail::Call& call);
detail::Reply pick(OpContext& of, const detail::Call& call);
detail::Reply add_at(OpContext& of, const detail::Call& call);
detail::Reply top_k(OpContext& of, const detail::Call& call);
detail::Reply softmax(OpContext& of, const detail::Call& call);
detail::Reply softmax_backward(OpContext& of, const detail::Call& call);
detail::Reply slice_cols(OpContext& of, const detail::Call& call);
detail::Reply concat_cols(OpContext& of, const detail::Call& call);
detail::Reply concat_rows(OpContext& of, const detail::Call& call);

}  // namespace shardlings::front::handle
