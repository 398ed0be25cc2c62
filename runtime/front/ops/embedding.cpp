// Embedding and positions. tensor[]: as in shardlings/ops.h; number[0..1]: begin and end of the table's rows.
#include "front/ops/op.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;
using detail::Verb;

void check_table(Op& op, const Operand& ids, const Operand& table, const char* what) {
  const Call& call = op.call();
  op.has_type(ids, "ids", DType::i32);
  op.require(table.shape().rank() >= 2, "{} is {}, but must be (rows, h)", what, to_text(table.shape()));
  op.require(call.number[1] - call.number[0] == table.rows(), "rows are [{}, {}), but {} is {}", call.number[0],
             call.number[1], what, to_text(table.shape()));
}

Shape with_width(Op& op, const Shape& ids, Count h) {
  op.require(ids.rank() < Shape::kMaxDims, "ids is {}: too many dimensions", to_text(ids));
  switch (ids.rank()) {
    case 2: return {ids[0], ids[1], h};
    case 3: return {ids[0], ids[1], ids[2], h};
    default: return {ids.size(), h};
  }
}

Reply embedding(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand ids = op.reads(0, "ids");
  const Operand table = op.reads(1, "table");
  op.computes_on(table, "table");
  check_table(op, ids, table, "table");
  const Count h = table.cols();
  op.returns(with_width(op, ids.shape(), h), table.dtype());
  op.touches_only(table, ids.size() * h);
  return op.run(KernelId::embedding, {ids.size(), h, call.number[0], call.number[1]}, 0);
}

Reply embedding_backward_add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand table = op.writes(0, "grad_table");
  const Operand ids = op.reads(1, "ids");
  const Operand grad = op.reads(2, "grad");
  check_table(op, ids, table, "grad_table");
  op.accumulates(table, "grad_table", grad, "grad");
  const Count h = table.cols();
  op.require(grad.size() == ids.size() * h, "grad is {}, but must have a row of {} for each of {} ids",
             to_text(grad.shape()), h, ids.size());
  op.no_aliases();
  op.touches_only(table, grad.size());
  return op.run(KernelId::embedding_backward_add,
                {ids.size(), h, call.number[0], call.number[1], static_cast<Count>(table.dtype())}, grad.size());
}

/// x is (s, b, h) and positions (s, h), whatever its shape says.
void check_positions(Op& op, const Operand& x, const char* x_name, const Operand& positions, const char* what) {
  op.require(x.shape().rank() == 3, "{} is {}, but must be (s, b, h)", x_name, to_text(x.shape()));
  op.require(positions.size() == x.shape()[0] * x.cols(), "{} is {}, but for {} {} it must be ({}, {})", what,
             to_text(positions.shape()), x_name, to_text(x.shape()), x.shape()[0], x.cols());
  op.no_aliases();
}

Reply add_positions(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.writes(0, "x");
  const Operand positions = op.reads(1, "positions");
  op.computes_on(x, "x");
  op.same_type(x, "x", positions, "positions");
  check_positions(op, x, "x", positions, "positions");
  return op.run(KernelId::add_positions, {x.shape()[0], x.shape()[1], x.shape()[2]}, x.size());
}

Reply sum_positions_add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand positions = op.writes(0, "grad_positions");
  const Operand grad = op.reads(1, "grad");
  op.accumulates(positions, "grad_positions", grad, "grad");
  check_positions(op, grad, "grad", positions, "grad_positions");
  const Shape& shape = grad.shape();
  return op.run(KernelId::sum_positions_add, {shape[0], shape[1], shape[2], static_cast<Count>(positions.dtype())},
                grad.size());
}

}  // namespace

void add_embedding_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::embedding, embedding);
  set(Verb::embedding_backward_add, embedding_backward_add);
  set(Verb::add_positions, add_positions);
  set(Verb::sum_positions_add, sum_positions_add);
}

}  // namespace shardlings::front
