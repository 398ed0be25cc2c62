// Operations on rows and columns.
#include <cstdint>
#include <limits>

#include "front/ops/op.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

constexpr Count kSoftmax = 12;  // per element; an exp counts as 8

void is_row_vector(Op& op, const Operand& x, const Operand& row, const char* what) {
  op.same_type(x, "x", row, what);
  op.has_size(row, what, x.rows(), "row of x");
}

template <class Given>
Reply to_row_vector(OpContext& of, const Call& call, KernelId id) {
  const Given given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.returns(rows_of(x.shape()), x.dtype());
  return op.run(id, {x.rows(), x.cols()}, x.size());
}

template <class Given>
Reply with_row_vector(OpContext& of, const Call& call, KernelId id, Count flops) {
  const Given given(call);
  Op op(of, call);
  const Operand& x = op.writes(given.x);
  const Operand& row = op.reads(given.row);
  op.computes_on(x, "x");
  is_row_vector(op, x, row, "row");
  op.no_aliases();
  return op.run(id, {x.rows(), x.cols()}, flops * x.size());
}

/// One id for each row, and columns as many as x has.
void check_ids(Op& op, const Operand& x, const Operand& ids, Range columns) {
  op.computes_on(x, "x");
  op.has_type(ids, "ids", DType::i32);
  op.has_size(ids, "ids", x.rows(), "row of x");
  op.require(columns.size() == x.cols(), "columns are [{}, {}), but x has {}", columns.begin, columns.end, x.cols());
}

}  // namespace

Reply handle::add_bias(OpContext& of, const Call& call) {
  const unpacked::add_bias given(call);
  Op op(of, call);
  const Operand& x = op.writes(given.x);
  const Operand& bias = op.reads(given.bias);
  op.computes_on(x, "x");
  op.same_type(x, "x", bias, "bias");
  op.has_size(bias, "bias", x.cols(), "column of x");
  op.no_aliases();
  return op.run(KernelId::add_bias, {x.rows(), x.cols()}, x.size());
}

Reply handle::sum_rows_add(OpContext& of, const Call& call) {
  const unpacked::sum_rows_add given(call);
  Op op(of, call);
  const Operand& sum = op.writes(given.sum);
  const Operand& x = op.reads(given.x);
  op.accumulates(sum, "sum", x, "x");
  op.has_size(sum, "sum", x.cols(), "column of x");
  op.no_aliases();
  return op.run(KernelId::sum_rows_add, {x.rows(), x.cols(), static_cast<Count>(sum.dtype())}, x.size());
}

Reply handle::row_max(OpContext& of, const Call& call) {
  return to_row_vector<unpacked::row_max>(of, call, KernelId::row_max);
}
Reply handle::row_sum(OpContext& of, const Call& call) {
  return to_row_vector<unpacked::row_sum>(of, call, KernelId::row_sum);
}

Reply handle::exp_minus_row(OpContext& of, const Call& call) {
  return with_row_vector<unpacked::exp_minus_row>(of, call, KernelId::exp_minus_row, 9);
}
Reply handle::divide_rows(OpContext& of, const Call& call) {
  return with_row_vector<unpacked::divide_rows>(of, call, KernelId::divide_rows, 1);
}
Reply handle::scale_rows(OpContext& of, const Call& call) {
  return with_row_vector<unpacked::scale_rows>(of, call, KernelId::scale_rows, 1);
}

Reply handle::pick(OpContext& of, const Call& call) {
  const unpacked::pick given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  const Operand& ids = op.reads(given.ids);
  check_ids(op, x, ids, given.columns);
  op.touches_only(x, x.rows());
  op.returns(rows_of(x.shape()), x.dtype());
  return op.run(KernelId::pick, {x.rows(), x.cols(), given.columns.begin, given.columns.end}, 0);
}

Reply handle::add_at(OpContext& of, const Call& call) {
  const unpacked::add_at given(call);
  Op op(of, call);
  const Operand& x = op.writes(given.x);
  const Operand& ids = op.reads(given.ids);
  check_ids(op, x, ids, given.columns);
  op.touches_only(x, x.rows());
  op.scalars({given.value});
  return op.run(KernelId::add_at, {x.rows(), x.cols(), given.columns.begin, given.columns.end}, x.rows());
}

Reply handle::top_k(OpContext& of, const Call& call) {
  const unpacked::top_k given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.require(given.k >= 1 && given.k <= x.cols(), "k is {}, but a row of x has {}", given.k, x.cols());
  op.require(x.size() <= std::numeric_limits<std::int32_t>::max(), "x is {}: too many elements to be numbered in i32",
             x.shape());
  op.returns({x.rows(), given.k}, DType::i32);
  return op.run(KernelId::top_k, {x.rows(), x.cols(), given.k}, x.size());
}

Reply handle::softmax(OpContext& of, const Call& call) {
  const unpacked::softmax given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.returns(x.shape(), x.dtype());
  return op.run(KernelId::softmax, {x.rows(), x.cols()}, kSoftmax * x.size());
}

Reply handle::softmax_backward(OpContext& of, const Call& call) {
  const unpacked::softmax_backward given(call);
  Op op(of, call);
  const Operand& y = op.reads(given.y);
  const Operand& grad = op.reads(given.grad);
  op.computes_on(y, "y");
  op.same_type(y, "y", grad, "grad");
  op.same_size(y, "y", grad, "grad");
  op.returns(y.shape(), y.dtype());
  return op.run(KernelId::softmax_backward, {y.rows(), y.cols()}, 4 * y.size());
}

}  // namespace shardlings::front
