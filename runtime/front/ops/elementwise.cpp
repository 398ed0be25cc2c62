// Operations element by element. tensor[]: as in shardlings/ops.h; number[0]: dtype (cast), seed (random_normal);
// number[1]: number of the first element (random_normal); scalar[0]: value, alpha, factor or deviation.
#include "base/dtype.h"
#include "front/host/host_desk.h"
#include "front/ops/op.h"
#include "model/operation_flops.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;
using detail::Verb;

// How many floating-point operations an element counts for: additions, multiplications, divisions, an exp as 8.
constexpr Count kGeluBackward = 24;

Reply clone(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  op.returns(x.shape(), x.dtype(), x.kind);
  return op.run(KernelId::copy, {x.bytes().value()}, 0);
}

Reply cast(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  const auto dtype = static_cast<DType>(call.number[0]);
  op.type(x.dtype());
  op.returns(x.shape(), dtype);
  return op.run(KernelId::cast, {x.size(), static_cast<Count>(dtype)}, 0);
}

Reply cast_into(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  const Operand x = op.reads(1, "x");
  op.same_size(y, "y", x, "x");
  op.type(x.dtype());
  return op.run(KernelId::cast, {x.size(), static_cast<Count>(y.dtype())}, 0);
}

Reply copy(RankFront& front, const Call& call) {
  const auto on_host = [&](int i) { return front.memory().memory_of(call.tensor[i]) == Memory::host; };
  if (on_host(0) || on_host(1)) return front.host().copy(call);
  Op op(front, call, Op::Runs::where_data_are);
  op.require(call.blocking, "both tensors are in the device's memory, where copies are part of the program: copy()");
  const Operand y = op.writes(0, "y");
  const Operand x = op.reads(1, "x");
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  return op.run(KernelId::copy, {x.bytes().value()}, 0);
}

Reply fill(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  op.type(y.dtype());
  op.scalars({call.scalar[0]});
  return op.run(KernelId::fill, {y.size()}, 0);
}

Reply add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  const Operand x = op.reads(1, "x");
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  op.type(y.dtype());
  return op.run(KernelId::add, {y.size()}, y.size());
}

Reply axpy(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  const Operand x = op.reads(1, "x");
  op.computes_on(y, "y");
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  op.scalars({call.scalar[0]});
  return op.run(KernelId::axpy, {y.size()}, 2 * y.size());
}

Reply scale(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  op.computes_on(y, "y");
  op.scalars({call.scalar[0]});
  return op.run(KernelId::scale, {y.size()}, y.size());
}

Reply scale_by(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  const Operand factor = op.reads(1, "factor");
  op.computes_on(y, "y");
  op.has_type(factor, "factor", DType::f32);
  op.require(factor.size() >= 1, "factor has no element");
  op.no_aliases();
  return op.run(KernelId::scale_by, {y.size()}, y.size());
}

Reply unary(RankFront& front, const Call& call, KernelId id, Count flops) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  op.computes_on(x, "x");
  op.returns(x.shape(), x.dtype());
  return op.run(id, {x.size()}, flops * x.size());
}

Reply backward(RankFront& front, const Call& call, KernelId id, Count flops) {
  Op op(front, call);
  const Operand x = op.reads(0, "x");
  const Operand grad = op.reads(1, "grad");
  op.computes_on(x, "x");
  op.same_type(x, "x", grad, "grad");
  op.same_size(x, "x", grad, "grad");
  op.returns(x.shape(), x.dtype());
  return op.run(id, {x.size()}, flops * x.size());
}

Reply gelu(RankFront& front, const Call& call) {
  return unary(front, call, KernelId::gelu, model::kGeluFlops);
}
Reply gelu_backward(RankFront& front, const Call& call) {
  return backward(front, call, KernelId::gelu_backward, kGeluBackward);
}
Reply relu(RankFront& front, const Call& call) {
  return unary(front, call, KernelId::relu, 1);
}
Reply relu_backward(RankFront& front, const Call& call) {
  return backward(front, call, KernelId::relu_backward, 1);
}

Reply random_normal(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand y = op.writes(0, "y");
  op.computes_on(y, "y");
  op.require(call.number[1] >= 0, "the first element's number is {}, but must not be negative", call.number[1]);
  op.scalars({call.scalar[0]});
  return op.run(KernelId::random_normal, {y.size(), call.number[0], call.number[1]}, 0);
}

}  // namespace

void add_elementwise_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::clone, clone);
  set(Verb::cast, cast);
  set(Verb::cast_into, cast_into);
  set(Verb::copy, copy);
  set(Verb::fill, fill);
  set(Verb::add, add);
  set(Verb::axpy, axpy);
  set(Verb::scale, scale);
  set(Verb::scale_by, scale_by);
  set(Verb::gelu, gelu);
  set(Verb::gelu_backward, gelu_backward);
  set(Verb::relu, relu);
  set(Verb::relu_backward, relu_backward);
  set(Verb::random_normal, random_normal);
}

}  // namespace shardlings::front
