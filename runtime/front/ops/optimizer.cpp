// Optimizers and what they need. tensor[]: as in shardlings/ops.h, left out ones empty; adam: number[0] = step,
// scalar[0..4] = lr, beta1, beta2, eps, weight decay; sgd: scalar[0] = lr; clip_factor: scalar[0] = limit.
#include "front/ops/op.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;
using detail::Verb;

/// f32, and as long as w.
void check_range(Op& op, const Operand& w, const Operand& x, const char* what) {
  op.has_type(x, what, DType::f32);
  op.same_size(w, "w", x, what);
}

void check_scalar(Op& op, const Operand& x, const char* what) {
  if (!x) return;
  op.has_type(x, what, DType::f32);
  op.require(x.size() >= 1, "{} has no element", what);
}

Reply adam(RankFront& front, const Call& call) {
  Op op(front, call, Op::Runs::where_data_are);
  const Operand w = op.writes(0, "w");
  op.require(call.blocking || op.on_host(),
             "w is in the device's memory, but only the host works beside the program; "
             "adam() computes on the device");
  const Operand grad = op.reads(1, "grad");
  const Operand m = op.writes(2, "m");
  const Operand v = op.writes(3, "v");
  const Operand factor = op.may_read(4, "factor");
  const Operand skip = op.may_read(5, "skip");
  op.has_type(w, "w", DType::f32);
  op.same_size(w, "w", grad, "grad");
  op.computes_on(grad, "grad");
  check_range(op, w, m, "m");
  check_range(op, w, v, "v");
  check_scalar(op, factor, "factor");
  check_scalar(op, skip, "skip");
  op.require(call.number[0] >= 1, "step is {}, but counts from 1", call.number[0]);
  op.no_aliases();
  op.scalars({call.scalar[0], call.scalar[1], call.scalar[2], call.scalar[3], call.scalar[4]});
  return op.run(KernelId::adam, {w.size(), call.number[0]}, 14 * w.size());
}

Reply sgd(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand w = op.writes(0, "w");
  const Operand grad = op.reads(1, "grad");
  const Operand factor = op.may_read(2, "factor");
  op.has_type(w, "w", DType::f32);
  op.same_size(w, "w", grad, "grad");
  op.computes_on(grad, "grad");
  check_scalar(op, factor, "factor");
  op.no_aliases();
  op.scalars({call.scalar[0]});
  return op.run(KernelId::sgd, {w.size()}, 2 * w.size());
}

Reply add_squares(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand total = op.writes(0, "total");
  const Operand x = op.reads(1, "x");
  op.computes_on(x, "x");
  op.has_type(total, "total", DType::f32);
  op.require(total.size() >= 1, "total has no element");
  op.no_aliases();
  return op.run(KernelId::add_squares, {x.size()}, 2 * x.size());
}

Reply clip_factor(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand squares = op.reads(0, "squares");
  op.has_type(squares, "squares", DType::f32);
  op.require(squares.size() >= 1, "squares has no element");
  op.require(call.scalar[0] > 0, "the limit is {}, but must be above 0", call.scalar[0]);
  op.returns({1}, DType::f32);
  op.scalars({call.scalar[0]});
  return op.run(KernelId::clip_factor, {}, 2);
}

Reply flag_nonfinite(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand flag = op.writes(0, "flag");
  const Operand x = op.reads(1, "x");
  op.computes_on(x, "x");
  op.has_type(flag, "flag", DType::f32);
  op.require(flag.size() >= 1, "flag has no element");
  op.no_aliases();
  return op.run(KernelId::flag_nonfinite, {x.size()}, 0);
}

}  // namespace

void add_optimizer_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::adam, adam);
  set(Verb::sgd, sgd);
  set(Verb::add_squares, add_squares);
  set(Verb::clip_factor, clip_factor);
  set(Verb::flag_nonfinite, flag_nonfinite);
}

}  // namespace shardlings::front
