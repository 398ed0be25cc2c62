#include "shardlings/ops.h"

#include "api/request.h"
#include "shardlings/host.h"

namespace shardlings {

using detail::Access;
using detail::Reply;
using detail::Request;
namespace args = detail::args;

namespace {

/// Gives a tensor's memory up after a call that used it up.
void used_up(Tensor&& tensor) {
  static_cast<void>(Access::release(std::move(tensor)));
}

Request adam_request(const char* name, View w, ConstView grad, View m, View v, const AdamStep& step, const Work& after,
                     ConstView factor, ConstView skip, Location at) {
  return Request(args::adam{.w = w,
                            .grad = grad,
                            .m = m,
                            .v = v,
                            .factor = factor,
                            .skip = skip,
                            .step = step.step,
                            .lr = step.lr,
                            .beta1 = step.beta1,
                            .beta2 = step.beta2,
                            .eps = step.eps,
                            .weight_decay = step.weight_decay,
                            .after = Access::id(after)},
                 at, name);
}

}  // namespace

Tensor matmul(ConstView a, ConstView b, Trans trans, Location at) {
  return Request(args::matmul{.a = a, .b = b, .trans = trans}, at).result();
}
void matmul_add(View c, ConstView a, ConstView b, Trans trans, Location at) {
  Request(args::matmul_add{.c = c, .a = a, .b = b, .trans = trans}, at).send();
}

Tensor clone(ConstView x, Location at) {
  return Request(args::clone{.x = x}, at).result();
}
Tensor cast(ConstView x, DType dtype, Location at) {
  return Request(args::cast{.x = x, .dtype = dtype}, at).result();
}
void cast_into(View y, ConstView x, Location at) {
  Request(args::cast_into{.y = y, .x = x}, at).send();
}
void copy(View y, ConstView x, Location at) {
  Request(args::copy{.y = y, .x = x, .after = 0}, at).send();
}
Work copy_async(View to, ConstView from, const Work& after, Location at) {
  return Request(args::copy{.y = to, .x = from, .after = Access::id(after)}, at, "copy_async")
      .comes_after(after)
      .start();
}
void fill(View y, float value, Location at) {
  Request(args::fill{.y = y, .value = value}, at).send();
}
void add(View y, ConstView x, Location at) {
  Request(args::add{.y = y, .x = x}, at).send();
}
void axpy(View y, float alpha, ConstView x, Location at) {
  Request(args::axpy{.y = y, .x = x, .alpha = alpha}, at).send();
}
void scale(View y, float factor, Location at) {
  Request(args::scale{.y = y, .factor = factor}, at).send();
}
void scale_by(View y, ConstView factor, Location at) {
  Request(args::scale_by{.y = y, .factor = factor}, at).send();
}
Tensor gelu(ConstView x, Location at) {
  return Request(args::gelu{.x = x}, at).result();
}
Tensor gelu_backward(ConstView x, ConstView grad, Location at) {
  return Request(args::gelu_backward{.x = x, .grad = grad}, at).result();
}
Tensor relu(ConstView x, Location at) {
  return Request(args::relu{.x = x}, at).result();
}
Tensor relu_backward(ConstView x, ConstView grad, Location at) {
  return Request(args::relu_backward{.x = x, .grad = grad}, at).result();
}
void random_normal(View y, std::uint64_t seed, Count first, float deviation, Location at) {
  Request(args::random_normal{.y = y, .seed = seed, .first = first, .deviation = deviation}, at).send();
}
void dropout(View x, float rate, Draws draws, Location at) {
  Request(args::dropout{.x = x,
                        .seed = draws.seed,
                        .stream = draws.stream,
                        .first = draws.first,
                        .by_position = draws.by_position,
                        .by_sequence = draws.by_sequence,
                        .rate = rate},
          at)
      .send();
}

void block_scales(View scales, ConstView x, Count first, Location at) {
  Request(args::block_scales{.scales = scales, .x = x, .first = first}, at).send();
}
void quantize(View y, ConstView x, ConstView scales, Count first, Location at) {
  Request(args::quantize{.y = y, .x = x, .scales = scales, .first = first}, at).send();
}
void dequantize(View y, ConstView codes, ConstView scales, Count first, Location at) {
  Request(args::dequantize{.y = y, .codes = codes, .scales = scales, .first = first}, at).send();
}

void add_bias(View x, ConstView bias, Location at) {
  Request(args::add_bias{.x = x, .bias = bias}, at).send();
}
void sum_rows_add(View sum, ConstView x, Location at) {
  Request(args::sum_rows_add{.sum = sum, .x = x}, at).send();
}
Tensor row_max(ConstView x, Location at) {
  return Request(args::row_max{.x = x}, at).result();
}
Tensor row_sum(ConstView x, Location at) {
  return Request(args::row_sum{.x = x}, at).result();
}
void exp_minus_row(View x, ConstView row, Location at) {
  Request(args::exp_minus_row{.x = x, .row = row}, at).send();
}
void divide_rows(View x, ConstView row, Location at) {
  Request(args::divide_rows{.x = x, .row = row}, at).send();
}
void scale_rows(View x, ConstView row, Location at) {
  Request(args::scale_rows{.x = x, .row = row}, at).send();
}
Tensor pick(ConstView x, ConstView ids, Range columns, Location at) {
  return Request(args::pick{.x = x, .ids = ids, .columns = columns}, at).result();
}
void add_at(View x, ConstView ids, Range columns, float value, Location at) {
  Request(args::add_at{.x = x, .ids = ids, .columns = columns, .value = value}, at).send();
}
Tensor top_k(ConstView x, Count k, Location at) {
  return Request(args::top_k{.x = x, .k = k}, at).result();
}
Tensor slice_cols(ConstView x, Range range, Location at) {
  return Request(args::slice_cols{.x = x, .columns = range}, at).result();
}
Tensor concat_cols(std::initializer_list<ConstView> parts, Location at) {
  return Request(args::concat_cols{.parts = parts}, at).result();
}
Tensor concat_rows(std::initializer_list<ConstView> parts, Location at) {
  return Request(args::concat_rows{.parts = parts}, at).result();
}
Tensor softmax(ConstView x, Location at) {
  return Request(args::softmax{.x = x}, at).result();
}
Tensor softmax_backward(ConstView y, ConstView grad, Location at) {
  return Request(args::softmax_backward{.y = y, .grad = grad}, at).result();
}

Tensor layer_norm(ConstView x, ConstView weight, ConstView bias, Tensor* stats, Location at) {
  Request r(args::layer_norm{.x = x, .weight = weight, .bias = bias, .keeps_stats = stats != nullptr}, at);
  const Reply reply = r.send();
  if (stats != nullptr) *stats = r.adopt(reply.tensor[1]);
  return r.adopt(reply.tensor[0]);
}
Tensor layer_norm_backward(ConstView x, ConstView weight, ConstView stats, ConstView grad, View grad_weight,
                           View grad_bias, Location at) {
  return Request(args::layer_norm_backward{.x = x,
                                           .weight = weight,
                                           .stats = stats,
                                           .grad = grad,
                                           .grad_weight = grad_weight,
                                           .grad_bias = grad_bias},
                 at)
      .result();
}
Tensor attention(ConstView qkv, int heads, Tensor* inner, Location at) {
  Request r(args::attention{.qkv = qkv, .heads = heads, .keeps_inner = inner != nullptr}, at);
  const Reply reply = r.send();
  if (inner != nullptr) *inner = r.adopt(reply.tensor[1]);
  return r.adopt(reply.tensor[0]);
}
Tensor attention_backward(ConstView qkv, int heads, Tensor&& inner, ConstView grad, Location at) {
  Request r(args::attention_backward{.qkv = qkv, .inner = inner, .grad = grad, .heads = heads}, at);
  const Reply reply = r.send();
  used_up(std::move(inner));  // not before: if the call throws, it is still the caller's
  return r.adopt(reply.tensor[0]);
}
Tensor partial_attention(ConstView q, ConstView kv, AttentionPart part, Tensor* lse, Location at) {
  Request r(args::partial_attention{.q = q,
                                    .kv = kv,
                                    .heads = part.heads,
                                    .first_query = part.first_query,
                                    .first_key = part.first_key,
                                    .document = part.document,
                                    .keeps_lse = lse != nullptr},
            at);
  const Reply reply = r.send();
  if (lse != nullptr) *lse = r.adopt(reply.tensor[1]);
  return r.adopt(reply.tensor[0]);
}
void partial_attention_backward_add(View grad_q, View grad_kv, ConstView q, ConstView kv, ConstView y, ConstView lse,
                                    ConstView grad_y, AttentionPart part, Location at) {
  Request(args::partial_attention_backward_add{.grad_q = grad_q,
                                               .grad_kv = grad_kv,
                                               .q = q,
                                               .kv = kv,
                                               .y = y,
                                               .lse = lse,
                                               .grad_y = grad_y,
                                               .heads = part.heads,
                                               .first_query = part.first_query,
                                               .first_key = part.first_key,
                                               .document = part.document},
          at)
      .send();
}
void merge_attention(View y, View lse, ConstView other_y, ConstView other_lse, Location at) {
  Request(args::merge_attention{.y = y, .lse = lse, .other_y = other_y, .other_lse = other_lse}, at).send();
}
Tensor embedding(ConstView ids, ConstView table, Range rows, Location at) {
  return Request(args::embedding{.ids = ids, .table = table, .rows = rows}, at).result();
}
void embedding_backward_add(View grad_table, ConstView ids, Range rows, ConstView grad, Location at) {
  Request(args::embedding_backward_add{.grad_table = grad_table, .ids = ids, .grad = grad, .rows = rows}, at).send();
}
void add_positions(View x, ConstView positions, Location at) {
  Request(args::add_positions{.x = x, .positions = positions}, at).send();
}
void sum_positions_add(View grad_positions, ConstView grad, Location at) {
  Request(args::sum_positions_add{.grad_positions = grad_positions, .grad = grad}, at).send();
}

Tensor cross_entropy(Tensor&& logits, ConstView targets, Count tokens, View loss, Location at) {
  Request(args::cross_entropy{.logits = logits, .targets = targets, .loss = loss, .tokens = tokens}, at).send();
  return std::move(logits);
}
void loss_add(View loss, ConstView sum, ConstView hit, ConstView top, ConstView targets, Count tokens, Location at) {
  Request(args::loss_add{.loss = loss, .sum = sum, .hit = hit, .top = top, .targets = targets, .tokens = tokens}, at)
      .send();
}

void adam(View w, ConstView grad, View m, View v, AdamStep step, ConstView factor, ConstView skip, Location at) {
  adam_request("adam", w, grad, m, v, step, {}, factor, skip, at).send();
}
Work adam_async(View w, ConstView grad, View m, View v, AdamStep step, const Work& after, ConstView factor,
                ConstView skip, Location at) {
  return adam_request("adam_async", w, grad, m, v, step, after, factor, skip, at).comes_after(after).start();
}
void sgd(View w, ConstView grad, float lr, ConstView factor, Location at) {
  Request(args::sgd{.w = w, .grad = grad, .factor = factor, .lr = lr}, at).send();
}
void add_squares(View total, ConstView x, Location at) {
  Request(args::add_squares{.total = total, .x = x}, at).send();
}
Tensor clip_factor(ConstView squares, float limit, Location at) {
  return Request(args::clip_factor{.squares = squares, .limit = limit}, at).result();
}
void flag_nonfinite(View flag, ConstView x, Location at) {
  Request(args::flag_nonfinite{.flag = flag, .x = x}, at).send();
}

}  // namespace shardlings
