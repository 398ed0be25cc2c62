// Embedding and positions.
#include "base/extents.h"
#include "front/ops/op.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

void check_table(Op& op, const Operand& ids, const Operand& table, Range rows, const char* what) {
  op.has_type(ids, "ids", DType::i32);
  op.require(table.shape().rank() >= 2, "{} is {}, but must be (rows, h)", what, table.shape());
  op.require(rows.size() == table.rows(), "rows are [{}, {}), but {} is {}", rows.begin, rows.end, what, table.shape());
}

Shape with_width(Op& op, const Shape& ids, Count h) {
  op.require(ids.rank() < Shape::kMaxDims, "ids is {}: too many dimensions", ids);
  return with_more_cols(ids, h);
}

/// x is (s, b, h) and positions (s, h), whatever its shape says.
void check_positions(Op& op, const Operand& x, const char* x_name, const Operand& positions, const char* what) {
  op.require(x.shape().rank() == 3, "{} is {}, but must be (s, b, h)", x_name, x.shape());
  op.require(positions.size() == x.shape()[0] * x.cols(), "{} is {}, but for {} {} it must be ({}, {})", what,
             positions.shape(), x_name, x.shape(), x.shape()[0], x.cols());
  op.no_aliases();
}

}  // namespace

Reply handle::embedding(OpContext& of, const Call& call) {
  const unpacked::embedding given(call);
  Op op(of, call);
  const Operand& ids = op.reads(given.ids);
  const Operand& table = op.reads(given.table);
  op.computes_on(table, "table");
  check_table(op, ids, table, given.rows, "table");
  const Count h = table.cols();
  op.returns(with_width(op, ids.shape(), h), table.dtype());
  op.touches_only(table, ids.size() * h);
  return op.run(KernelId::embedding, {ids.size(), h, given.rows.begin, given.rows.end}, 0);
}

Reply handle::embedding_backward_add(OpContext& of, const Call& call) {
  const unpacked::embedding_backward_add given(call);
  Op op(of, call);
  const Operand& table = op.writes(given.grad_table);
  const Operand& ids = op.reads(given.ids);
  const Operand& grad = op.reads(given.grad);
  check_table(op, ids, table, given.rows, "grad_table");
  op.accumulates(table, "grad_table", grad, "grad");
  const Count h = table.cols();
  op.require(grad.size() == bounded_product({ids.size(), h}),
             "grad is {}, but must have a row of {} for each of {} ids", grad.shape(), h, ids.size());
  op.no_aliases();
  op.touches_only(table, grad.size());
  return op.run(KernelId::embedding_backward_add,
                {ids.size(), h, given.rows.begin, given.rows.end, static_cast<Count>(table.dtype())}, grad.size());
}

Reply handle::add_positions(OpContext& of, const Call& call) {
  const unpacked::add_positions given(call);
  Op op(of, call);
  const Operand& x = op.writes(given.x);
  const Operand& positions = op.reads(given.positions);
  op.computes_on(x, "x");
  op.same_type(x, "x", positions, "positions");
  check_positions(op, x, "x", positions, "positions");
  return op.run(KernelId::add_positions, {x.shape()[0], x.shape()[1], x.shape()[2]}, x.size());
}

Reply handle::sum_positions_add(OpContext& of, const Call& call) {
  const unpacked::sum_positions_add given(call);
  Op op(of, call);
  const Operand& positions = op.writes(given.grad_positions);
  const Operand& grad = op.reads(given.grad);
  op.accumulates(positions, "grad_positions", grad, "grad");
  check_positions(op, grad, "grad", positions, "grad_positions");
  const Shape& shape = grad.shape();
  return op.run(KernelId::sum_positions_add, {shape[0], shape[1], shape[2], static_cast<Count>(positions.dtype())},
                grad.size());
}

}  // namespace shardlings::front
