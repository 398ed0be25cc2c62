// Operations on rows and columns. tensor[]: as in shardlings/ops.h; number[0..1]: begin and end of the columns (pick,
// add_at); scalar[0]: value (add_at).
#include "front/ops/op.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;
using detail::Verb;

constexpr Count kSoftmax = 12;  // per element; an exp counts as 8

void is_row_vector(Op& op, const Operand& x, const Operand& row, const char* what) {
  op.same_type(x, "x", row, what);
  op.has_size(row, what, x.rows(), "row of x");
}

Reply add_bias(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.writes(0, "x");
  const Operand bias = op.reads(1, "bias");
  op.computes_on(x, "x");
  op.same_type(x, "x", bias, "bias");
  op.has_size(bias, "bias", x.cols(), "column of x");
  op.no_aliases();
  return op.run(KernelId::add_bias, {x.rows(), x.cols()}, x.size());
}

Reply sum_rows_add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand sum = op.writes(0, "sum");
  const Operand x = op.reads(1, "x");
  op.accumulates(sum, "sum", x, "x");
  op.has_size(sum, "sum", x.cols(), "column of x");
  op.no_aliases();
  return op.run(KernelId::sum_rows_add, {x.rows(), x.cols(), static_cast<Count>(sum.dtype())}, x.size());
}

Reply to_row_vector(RankFront& front, const Call& call, KernelId id) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  op.computes_on(x, "x");
  op.returns(rows_of(x.shape()), x.dtype());
  return op.run(id, {x.rows(), x.cols()}, x.size());
}

Reply row_max(RankFront& front, const Call& call) {
  return to_row_vector(front, call, KernelId::row_max);
}
Reply row_sum(RankFront& front, const Call& call) {
  return to_row_vector(front, call, KernelId::row_sum);
}

Reply with_row_vector(RankFront& front, const Call& call, KernelId id, Count flops) {
  Op op(front, call);
  const Operand x = op.writes(0, "x");
  const Operand row = op.reads(1, "row");
  op.computes_on(x, "x");
  is_row_vector(op, x, row, "row");
  op.no_aliases();
  return op.run(id, {x.rows(), x.cols()}, flops * x.size());
}

Reply exp_minus_row(RankFront& front, const Call& call) {
  return with_row_vector(front, call, KernelId::exp_minus_row, 9);
}
Reply divide_rows(RankFront& front, const Call& call) {
  return with_row_vector(front, call, KernelId::divide_rows, 1);
}

/// One id for each row, and columns as many as x has.
void check_ids(Op& op, const Operand& x, const Operand& ids) {
  const Call& call = op.call();
  op.computes_on(x, "x");
  op.has_type(ids, "ids", DType::i32);
  op.has_size(ids, "ids", x.rows(), "row of x");
  op.require(call.number[1] - call.number[0] == x.cols(), "columns are [{}, {}), but x has {}", call.number[0],
             call.number[1], x.cols());
}

Reply pick(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  const Operand ids = op.reads(1, "ids");
  check_ids(op, x, ids);
  op.touches_only(x, x.rows());
  op.returns(rows_of(x.shape()), x.dtype());
  return op.run(KernelId::pick, {x.rows(), x.cols(), call.number[0], call.number[1]}, 0);
}

Reply add_at(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.writes(0, "x");
  const Operand ids = op.reads(1, "ids");
  check_ids(op, x, ids);
  op.touches_only(x, x.rows());
  op.scalars({call.scalar[0]});
  return op.run(KernelId::add_at, {x.rows(), x.cols(), call.number[0], call.number[1]}, x.rows());
}

Reply softmax(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  op.computes_on(x, "x");
  op.returns(x.shape(), x.dtype());
  return op.run(KernelId::softmax, {x.rows(), x.cols()}, kSoftmax * x.size());
}

Reply softmax_backward(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.reads(0, "y");
  const Operand grad = op.reads(1, "grad");
  op.computes_on(y, "y");
  op.same_type(y, "y", grad, "grad");
  op.same_size(y, "y", grad, "grad");
  op.returns(y.shape(), y.dtype());
  return op.run(KernelId::softmax_backward, {y.rows(), y.cols()}, 4 * y.size());
}

}  // namespace

void add_row_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::add_bias, add_bias);
  set(Verb::sum_rows_add, sum_rows_add);
  set(Verb::row_max, row_max);
  set(Verb::row_sum, row_sum);
  set(Verb::exp_minus_row, exp_minus_row);
  set(Verb::divide_rows, divide_rows);
  set(Verb::pick, pick);
  set(Verb::add_at, add_at);
  set(Verb::softmax, softmax);
  set(Verb::softmax_backward, softmax_backward);
}

}  // namespace shardlings::front
