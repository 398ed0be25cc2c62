// Operations element by element.
#include "base/dtype.h"
#include "base/extents.h"
#include "front/host/host_lanes.h"
#include "front/ops/op.h"
#include "model/operation_flops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

constexpr Count kMostDraws = Count{1} << 60;  // so that sums of some do not overflow

template <class Given>
Reply unary(OpContext& of, const Call& call, KernelId id, Count flops) {
  const Given given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  op.computes_on(x, "x");
  op.returns(x.shape(), x.dtype());
  return op.run(id, {x.size()}, flops * x.size());
}

void is_no_byte(Op& op, DType dtype) {
  op.require(!is_one_byte(dtype),
             "{} is 8 bits, which mean a number only together with a scale: see quantize() and dequantize()",
             shardlings::name_of(dtype));
}

template <class Given>
Reply backward(OpContext& of, const Call& call, KernelId id, Count flops) {
  const Given given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  const Operand& grad = op.reads(given.grad);
  op.computes_on(x, "x");
  op.same_type(x, "x", grad, "grad");
  op.same_size(x, "x", grad, "grad");
  op.returns(x.shape(), x.dtype());
  return op.run(id, {x.size()}, flops * x.size());
}

/// The judge knows a cast that makes integers of numbers by its name: they could choose from a table what no sum gives.
void name_cast(Op& op, DType from, DType to) {
  if (to == DType::i32 && from != DType::i32) op.traced_as("cast_to_i32");
}

}  // namespace

Reply handle::clone(OpContext& of, const Call& call) {
  const unpacked::clone given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  op.returns(x.shape(), x.dtype(), x.kind);
  return op.run(KernelId::copy, {x.bytes().value()}, 0);
}

Reply handle::cast(OpContext& of, const Call& call) {
  const unpacked::cast given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  is_no_byte(op, x.dtype());
  is_no_byte(op, given.dtype);
  op.type(x.dtype());
  name_cast(op, x.dtype(), given.dtype);
  op.returns(x.shape(), given.dtype);
  return op.run(KernelId::cast, {x.size(), static_cast<Count>(given.dtype)}, 0);
}

Reply handle::cast_into(OpContext& of, const Call& call) {
  const unpacked::cast_into given(call);
  Op op(of, call);
  const Operand& y = op.overwrites(given.y);
  const Operand& x = op.reads(given.x);
  op.same_size(y, "y", x, "x");
  is_no_byte(op, x.dtype());
  is_no_byte(op, y.dtype());
  op.type(x.dtype());
  name_cast(op, x.dtype(), y.dtype());
  return op.run(KernelId::cast, {x.size(), static_cast<Count>(y.dtype())}, 0);
}

Reply handle::copy(OpContext& of, const Call& call) {
  const unpacked::copy given(call);
  const auto on_host = [&](int i) { return of.memory.memory_of(call.tensor[i]) == Memory::host; };
  if (on_host(given.y.index) || on_host(given.x.index)) return of.host.copy(call);
  Op op(of, call, Op::Runs::where_data_are);
  op.require(call.blocking != 0,
             "both tensors are in the device's memory, where copies are part of the program: copy()");
  const Operand& y = op.overwrites(given.y);
  const Operand& x = op.reads(given.x);
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  return op.run(KernelId::copy, {x.bytes().value()}, 0);
}

Reply handle::fill(OpContext& of, const Call& call) {
  const unpacked::fill given(call);
  Op op(of, call);
  const Operand& y = op.overwrites(given.y);
  op.type(y.dtype());
  op.scalars({given.value});
  return op.run(KernelId::fill, {y.size()}, 0);
}

Reply handle::add(OpContext& of, const Call& call) {
  const unpacked::add given(call);
  Op op(of, call);
  const Operand& y = op.writes(given.y);
  const Operand& x = op.reads(given.x);
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  is_no_byte(op, y.dtype());
  op.type(y.dtype());
  return op.run(KernelId::add, {y.size()}, y.size());
}

Reply handle::axpy(OpContext& of, const Call& call) {
  const unpacked::axpy given(call);
  Op op(of, call);
  const Operand& y = op.writes(given.y);
  const Operand& x = op.reads(given.x);
  op.computes_on(y, "y");
  op.same_type(y, "y", x, "x");
  op.same_size(y, "y", x, "x");
  op.scalars({given.alpha});
  return op.run(KernelId::axpy, {y.size()}, 2 * y.size());
}

Reply handle::scale(OpContext& of, const Call& call) {
  const unpacked::scale given(call);
  Op op(of, call);
  const Operand& y = op.writes(given.y);
  op.computes_on(y, "y");
  op.scalars({given.factor});
  return op.run(KernelId::scale, {y.size()}, y.size());
}

Reply handle::scale_by(OpContext& of, const Call& call) {
  const unpacked::scale_by given(call);
  Op op(of, call);
  const Operand& y = op.writes(given.y);
  const Operand& factor = op.reads(given.factor);
  op.computes_on(y, "y");
  op.has_type(factor, "factor", DType::f32);
  op.require(factor.size() >= 1, "factor has no element");
  op.no_aliases();
  return op.run(KernelId::scale_by, {y.size()}, y.size());
}

Reply handle::gelu(OpContext& of, const Call& call) {
  return unary<unpacked::gelu>(of, call, KernelId::gelu, model::kGeluFlops);
}
Reply handle::gelu_backward(OpContext& of, const Call& call) {
  return backward<unpacked::gelu_backward>(of, call, KernelId::gelu_backward, model::kGeluBackwardFlops);
}
Reply handle::relu(OpContext& of, const Call& call) {
  return unary<unpacked::relu>(of, call, KernelId::relu, 1);
}
Reply handle::relu_backward(OpContext& of, const Call& call) {
  return backward<unpacked::relu_backward>(of, call, KernelId::relu_backward, 1);
}

Reply handle::random_normal(OpContext& of, const Call& call) {
  const unpacked::random_normal given(call);
  Op op(of, call);
  const Operand& y = op.overwrites(given.y);
  op.computes_on(y, "y");
  op.require(given.first >= 0, "the first element's number is {}, but must not be negative", given.first);
  op.scalars({given.deviation});
  return op.run(KernelId::random_normal, {y.size(), static_cast<Count>(given.seed), given.first}, 0);
}

Reply handle::dropout(OpContext& of, const Call& call) {
  const unpacked::dropout given(call);
  Op op(of, call);
  const Operand& x = op.writes(given.x);
  op.computes_on(x, "x");
  op.require(x.shape().rank() == 3, "x is {}, but must be (s, b, w)", x.shape());
  op.require(given.rate >= 0 && given.rate < 1, "the rate is {}, but must be at least 0 and less than 1", given.rate);
  const Count s = x.shape()[0], b = x.shape()[1], w = x.shape()[2];
  op.require(given.first >= 0 && given.by_position >= 0 && given.by_sequence >= 0,
             "first, by_position and by_sequence are {}, {} and {}, but must not be negative", given.first,
             given.by_position, given.by_sequence);
  for (const Count part :
       {given.first, bounded_product({s, given.by_position}), bounded_product({b, given.by_sequence})}) {
    op.require(part < kMostDraws,
               "x is {}, from number {} on, with {} from one position to the next and {} from one "
               "sequence to the next: numbers must be less than 2^60",
               x.shape(), given.first, given.by_position, given.by_sequence);
  }
  op.scalars({1 / (1 - given.rate), given.rate});
  return op.run(KernelId::dropout,
                {s, b, w, static_cast<Count>(given.seed), static_cast<Count>(given.stream), given.first,
                 given.by_position, given.by_sequence},
                model::kDropoutFlops * x.size());
}

}  // namespace shardlings::front
