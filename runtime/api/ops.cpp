#include "shardlings/ops.h"

#include "api/request.h"
#include "shardlings/host.h"

namespace shardlings {

using detail::Access;
using detail::Reply;
using detail::Request;
using detail::Verb;

namespace {

Request request(Verb verb, const char* name, Location at) {
  return {verb, name, at};
}

/// Gives a tensor's memory up after a call that used it up.
void used_up(Tensor&& tensor) {
  static_cast<void>(Access::release(std::move(tensor)));
}

Tensor concat(Verb verb, const char* name, std::initializer_list<ConstView> parts, Location at) {
  Request r(verb, name, at);
  if (parts.size() > static_cast<std::size_t>(detail::kMaxTensors)) r.fail("at most 8 parts at once");
  for (const ConstView& part : parts) r.tensor(part);
  return r.result();
}

Request adam_request(const char* name, std::initializer_list<ConstView> tensors, const AdamStep& step, Location at) {
  Request r(Verb::adam, name, at);
  for (const ConstView& tensor : tensors) r.tensor(tensor);
  r.number(step.step).scalar(step.lr).scalar(step.beta1).scalar(step.beta2).scalar(step.eps).scalar(step.weight_decay);
  return r;
}

}  // namespace

Tensor matmul(ConstView a, ConstView b, Trans trans, Location at) {
  return request(Verb::matmul, "matmul", at).tensor(a).tensor(b).number(static_cast<int>(trans)).result();
}
void matmul_add(View c, ConstView a, ConstView b, Trans trans, Location at) {
  request(Verb::matmul_add, "matmul_add", at).tensor(c).tensor(a).tensor(b).number(static_cast<int>(trans)).send();
}

Tensor clone(ConstView x, Location at) {
  return request(Verb::clone, "clone", at).tensor(x).result();
}
Tensor cast(ConstView x, DType dtype, Location at) {
  return request(Verb::cast, "cast", at).tensor(x).number(static_cast<int>(dtype)).result();
}
void cast_into(View y, ConstView x, Location at) {
  request(Verb::cast_into, "cast_into", at).tensor(y).tensor(x).send();
}
void copy(View y, ConstView x, Location at) {
  request(Verb::copy, "copy", at).tensor(y).tensor(x).send();
}
Work copy_async(View to, ConstView from, const Work& after, Location at) {
  return request(Verb::copy, "copy_async", at).tensor(to).tensor(from).starts_after(after).work();
}
void fill(View y, float value, Location at) {
  request(Verb::fill, "fill", at).tensor(y).scalar(value).send();
}
void add(View y, ConstView x, Location at) {
  request(Verb::add, "add", at).tensor(y).tensor(x).send();
}
void axpy(View y, float alpha, ConstView x, Location at) {
  request(Verb::axpy, "axpy", at).tensor(y).tensor(x).scalar(alpha).send();
}
void scale(View y, float factor, Location at) {
  request(Verb::scale, "scale", at).tensor(y).scalar(factor).send();
}
void scale_by(View y, ConstView factor, Location at) {
  request(Verb::scale_by, "scale_by", at).tensor(y).tensor(factor).send();
}
Tensor gelu(ConstView x, Location at) {
  return request(Verb::gelu, "gelu", at).tensor(x).result();
}
Tensor gelu_backward(ConstView x, ConstView grad, Location at) {
  return request(Verb::gelu_backward, "gelu_backward", at).tensor(x).tensor(grad).result();
}
Tensor relu(ConstView x, Location at) {
  return request(Verb::relu, "relu", at).tensor(x).result();
}
Tensor relu_backward(ConstView x, ConstView grad, Location at) {
  return request(Verb::relu_backward, "relu_backward", at).tensor(x).tensor(grad).result();
}
void random_normal(View y, std::uint64_t seed, Count first, float deviation, Location at) {
  request(Verb::random_normal, "random_normal", at)
      .tensor(y)
      .number(static_cast<std::int64_t>(seed))
      .number(first)
      .scalar(deviation)
      .send();
}

void add_bias(View x, ConstView bias, Location at) {
  request(Verb::add_bias, "add_bias", at).tensor(x).tensor(bias).send();
}
void sum_rows_add(View sum, ConstView x, Location at) {
  request(Verb::sum_rows_add, "sum_rows_add", at).tensor(sum).tensor(x).send();
}
Tensor row_max(ConstView x, Location at) {
  return request(Verb::row_max, "row_max", at).tensor(x).result();
}
Tensor row_sum(ConstView x, Location at) {
  return request(Verb::row_sum, "row_sum", at).tensor(x).result();
}
void exp_minus_row(View x, ConstView row, Location at) {
  request(Verb::exp_minus_row, "exp_minus_row", at).tensor(x).tensor(row).send();
}
void divide_rows(View x, ConstView row, Location at) {
  request(Verb::divide_rows, "divide_rows", at).tensor(x).tensor(row).send();
}
Tensor pick(ConstView x, ConstView ids, Range columns, Location at) {
  return request(Verb::pick, "pick", at).tensor(x).tensor(ids).range(columns).result();
}
void add_at(View x, ConstView ids, Range columns, float value, Location at) {
  request(Verb::add_at, "add_at", at).tensor(x).tensor(ids).range(columns).scalar(value).send();
}
Tensor slice_cols(ConstView x, Range range, Location at) {
  return request(Verb::slice_cols, "slice_cols", at).tensor(x).range(range).result();
}
Tensor concat_cols(std::initializer_list<ConstView> parts, Location at) {
  return concat(Verb::concat_cols, "concat_cols", parts, at);
}
Tensor concat_rows(std::initializer_list<ConstView> parts, Location at) {
  return concat(Verb::concat_rows, "concat_rows", parts, at);
}
Tensor softmax(ConstView x, Location at) {
  return request(Verb::softmax, "softmax", at).tensor(x).result();
}
Tensor softmax_backward(ConstView y, ConstView grad, Location at) {
  return request(Verb::softmax_backward, "softmax_backward", at).tensor(y).tensor(grad).result();
}

Tensor layer_norm(ConstView x, ConstView weight, ConstView bias, Tensor* stats, Location at) {
  Request r(Verb::layer_norm, "layer_norm", at);
  const Reply reply = r.tensor(x).tensor(weight).tensor(bias).number(stats != nullptr ? 1 : 0).send();
  if (stats != nullptr) *stats = r.adopt(reply.tensor[1]);
  return r.adopt(reply.tensor[0]);
}
Tensor layer_norm_backward(ConstView x, ConstView weight, ConstView stats, ConstView grad, View grad_weight,
                           View grad_bias, Location at) {
  return request(Verb::layer_norm_backward, "layer_norm_backward", at)
      .tensor(x)
      .tensor(weight)
      .tensor(stats)
      .tensor(grad)
      .tensor(grad_weight)
      .tensor(grad_bias)
      .result();
}
Tensor attention(ConstView qkv, int heads, Tensor* inner, Location at) {
  Request r(Verb::attention, "attention", at);
  const Reply reply = r.tensor(qkv).number(heads).number(inner != nullptr ? 1 : 0).send();
  if (inner != nullptr) *inner = r.adopt(reply.tensor[1]);
  return r.adopt(reply.tensor[0]);
}
Tensor attention_backward(ConstView qkv, int heads, Tensor&& inner, ConstView grad, Location at) {
  Request r(Verb::attention_backward, "attention_backward", at);
  const Reply reply = r.tensor(qkv).tensor(inner).tensor(grad).number(heads).send();
  used_up(std::move(inner));  // not before: if the call throws, it is still the caller's
  return r.adopt(reply.tensor[0]);
}
Tensor embedding(ConstView ids, ConstView table, Range rows, Location at) {
  return request(Verb::embedding, "embedding", at).tensor(ids).tensor(table).range(rows).result();
}
void embedding_backward_add(View grad_table, ConstView ids, Range rows, ConstView grad, Location at) {
  request(Verb::embedding_backward_add, "embedding_backward_add", at)
      .tensor(grad_table)
      .tensor(ids)
      .tensor(grad)
      .range(rows)
      .send();
}
void add_positions(View x, ConstView positions, Location at) {
  request(Verb::add_positions, "add_positions", at).tensor(x).tensor(positions).send();
}
void sum_positions_add(View grad_positions, ConstView grad, Location at) {
  request(Verb::sum_positions_add, "sum_positions_add", at).tensor(grad_positions).tensor(grad).send();
}

Tensor cross_entropy(Tensor&& logits, ConstView targets, Count tokens, View loss, Location at) {
  Request r(Verb::cross_entropy, "cross_entropy", at);
  r.tensor(logits).tensor(targets).tensor(loss).number(tokens).send();
  return std::move(logits);
}
void loss_add(View loss, ConstView sum, ConstView hit, ConstView top, ConstView targets, Count tokens, Location at) {
  request(Verb::loss_add, "loss_add", at)
      .tensor(loss)
      .tensor(sum)
      .tensor(hit)
      .tensor(top)
      .tensor(targets)
      .number(tokens)
      .send();
}

void adam(View w, ConstView grad, View m, View v, AdamStep step, ConstView factor, ConstView skip, Location at) {
  adam_request("adam", {w, grad, m, v, factor, skip}, step, at).send();
}
Work adam_async(View w, ConstView grad, View m, View v, AdamStep step, const Work& after, ConstView factor,
                ConstView skip, Location at) {
  return adam_request("adam_async", {w, grad, m, v, factor, skip}, step, at).starts_after(after).work();
}
void sgd(View w, ConstView grad, float lr, ConstView factor, Location at) {
  request(Verb::sgd, "sgd", at).tensor(w).tensor(grad).tensor(factor).scalar(lr).send();
}
void add_squares(View total, ConstView x, Location at) {
  request(Verb::add_squares, "add_squares", at).tensor(total).tensor(x).send();
}
Tensor clip_factor(ConstView squares, float limit, Location at) {
  return request(Verb::clip_factor, "clip_factor", at).tensor(squares).scalar(limit).result();
}
void flag_nonfinite(View flag, ConstView x, Location at) {
  request(Verb::flag_nonfinite, "flag_nonfinite", at).tensor(flag).tensor(x).send();
}

}  // namespace shardlings
