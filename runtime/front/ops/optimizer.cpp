// Optimizers and what they need.
#include "front/ops/op.h"
#include "model/operation_flops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

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

}  // namespace

Reply handle::adam(OpContext& of, const Call& call) {
  const unpacked::adam given(call);
  Op op(of, call, Op::Runs::where_data_are);
  const Operand& w = op.writes(given.w);
  op.require(call.blocking != 0 || op.on_host(),
             "w is in the device's memory, but only the host works beside the program; "
             "adam() computes on the device");
  const Operand& grad = op.reads(given.grad);
  const Operand& m = op.writes(given.m);
  const Operand& v = op.writes(given.v);
  const Operand& factor = op.may_read(given.factor);
  const Operand& skip = op.may_read(given.skip);
  op.has_type(w, "w", DType::f32);
  op.same_size(w, "w", grad, "grad");
  op.computes_on(grad, "grad");
  check_range(op, w, m, "m");
  check_range(op, w, v, "v");
  check_scalar(op, factor, "factor");
  check_scalar(op, skip, "skip");
  op.require(given.step >= 1, "step is {}, but counts from 1", given.step);
  op.no_aliases();
  op.scalars({given.lr, given.beta1, given.beta2, given.eps, given.weight_decay});
  return op.run(KernelId::adam, {w.size(), given.step}, model::kAdamFlops * w.size());
}

Reply handle::sgd(OpContext& of, const Call& call) {
  const unpacked::sgd given(call);
  Op op(of, call);
  const Operand& w = op.writes(given.w);
  const Operand& grad = op.reads(given.grad);
  const Operand& factor = op.may_read(given.factor);
  op.has_type(w, "w", DType::f32);
  op.same_size(w, "w", grad, "grad");
  op.computes_on(grad, "grad");
  check_scalar(op, factor, "factor");
  op.no_aliases();
  op.scalars({given.lr});
  return op.run(KernelId::sgd, {w.size()}, model::kSgdFlops * w.size());
}

Reply handle::add_squares(OpContext& of, const Call& call) {
  const unpacked::add_squares given(call);
  Op op(of, call);
  const Operand& total = op.writes(given.total);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.has_type(total, "total", DType::f32);
  op.require(total.size() >= 1, "total has no element");
  op.no_aliases();
  return op.run(KernelId::add_squares, {x.size()}, 2 * x.size());
}

Reply handle::clip_factor(OpContext& of, const Call& call) {
  const unpacked::clip_factor given(call);
  Op op(of, call);
  const Operand& squares = op.reads(given.squares);
  op.has_type(squares, "squares", DType::f32);
  op.require(squares.size() >= 1, "squares has no element");
  op.require(given.limit > 0, "the limit is {}, but must be above 0", given.limit);
  op.returns({1}, DType::f32);
  op.scalars({given.limit});
  return op.run(KernelId::clip_factor, {}, 2);
}

Reply handle::flag_nonfinite(OpContext& of, const Call& call) {
  const unpacked::flag_nonfinite given(call);
  Op op(of, call);
  const Operand& flag = op.writes(given.flag);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.has_type(flag, "flag", DType::f32);
  op.require(flag.size() >= 1, "flag has no element");
  op.no_aliases();
  return op.run(KernelId::flag_nonfinite, {x.size()}, 0);
}

}  // namespace shardlings::front
