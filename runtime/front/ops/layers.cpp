// Layer norm and attention.
#include "base/extents.h"
#include "front/ops/op.h"
#include "model/operation_flops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

constexpr float kEpsilon = 1e-5F;

void check_vector(Op& op, const Operand& x, const Operand& vector, const char* what) {
  op.same_type(x, "x", vector, what);
  op.has_size(vector, what, x.cols(), "column of x");
}

struct AttentionExtents {
  Count s, b, heads, w;
  Count probabilities() const { return bounded_product({b, heads, s, s}); }
  /// Of the two products of a head with full matrices, as a roofline of a dense attention counts them.
  Count flops() const { return bounded_product({4, b, s, s, w}); }
};

AttentionExtents extents(Op& op, const Operand& qkv, Count heads) {
  op.computes_on(qkv, "qkv");
  op.require(qkv.shape().rank() == 3 && qkv.cols() % 3 == 0, "qkv is {}, but must be (s, b, 3 w)", qkv.shape());
  const Count w = qkv.cols() / 3;
  op.require(heads > 0 && w % heads == 0, "{} heads do not divide w = {} (qkv is {})", heads, w, qkv.shape());
  op.matrix_product();
  return {qkv.shape()[0], qkv.shape()[1], heads, w};
}

}  // namespace

Reply handle::layer_norm(OpContext& of, const Call& call) {
  const unpacked::layer_norm given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  const Operand& weight = op.reads(given.weight);
  const Operand& bias = op.reads(given.bias);
  op.computes_on(x, "x");
  check_vector(op, x, weight, "weight");
  check_vector(op, x, bias, "bias");
  op.returns(x.shape(), x.dtype());
  if (given.keeps_stats) op.returns({2, x.rows()}, DType::f32);
  op.scalars({kEpsilon});
  return op.run(KernelId::layer_norm, {x.rows(), x.cols()}, model::kNormFlops * x.size());
}

Reply handle::layer_norm_backward(OpContext& of, const Call& call) {
  const unpacked::layer_norm_backward given(call);
  Op op(of, call);
  const Operand& x = op.reads(given.x);
  const Operand& weight = op.reads(given.weight);
  const Operand& stats = op.reads(given.stats);
  const Operand& grad = op.reads(given.grad);
  const Operand& grad_weight = op.writes(given.grad_weight);
  const Operand& grad_bias = op.writes(given.grad_bias);
  op.computes_on(x, "x");
  check_vector(op, x, weight, "weight");
  op.has_type(stats, "stats", DType::f32);
  op.require(stats.size() == 2 * x.rows(), "stats is {}, but must be (2, {}), as layer_norm made it", stats.shape(),
             x.rows());
  op.same_type(x, "x", grad, "grad");
  op.same_size(x, "x", grad, "grad");
  op.accumulates(grad_weight, "grad_weight", x, "x");
  op.same_type(grad_weight, "grad_weight", grad_bias, "grad_bias");
  op.has_size(grad_weight, "grad_weight", x.cols(), "column of x");
  op.has_size(grad_bias, "grad_bias", x.cols(), "column of x");
  op.no_aliases();
  op.returns(x.shape(), x.dtype());
  return op.run(KernelId::layer_norm_backward, {x.rows(), x.cols(), static_cast<Count>(grad_weight.dtype())},
                model::kNormBackwardFlops * x.size());
}

Reply handle::attention(OpContext& of, const Call& call) {
  const unpacked::attention given(call);
  Op op(of, call);
  const Operand& qkv = op.reads(given.qkv);
  const AttentionExtents e = extents(op, qkv, given.heads);
  op.returns({e.s, e.b, e.w}, qkv.dtype());
  if (given.keeps_inner) op.returns({e.b, e.heads, e.s, e.s}, qkv.dtype());
  return op.run(KernelId::attention, {e.s, e.b, e.heads, e.w}, e.flops());
}

/// Uses the probabilities up: their memory is freed.
Reply handle::attention_backward(OpContext& of, const Call& call) {
  const unpacked::attention_backward given(call);
  Op op(of, call);
  const Operand& qkv = op.reads(given.qkv);
  const Operand& inner = op.takes(given.inner);
  const Operand& grad = op.reads(given.grad);
  const AttentionExtents e = extents(op, qkv, given.heads);
  op.same_type(qkv, "qkv", inner, "inner");
  op.same_type(qkv, "qkv", grad, "grad");
  op.require(inner.size() == e.probabilities(), "inner is {}, but must be ({}, {}, {}, {}), as attention made it",
             inner.shape(), e.b, e.heads, e.s, e.s);
  op.require(grad.size() == bounded_product({e.s, e.b, e.w}), "grad is {}, but must be ({}, {}, {})", grad.shape(), e.s,
             e.b, e.w);
  op.returns(qkv.shape(), qkv.dtype());
  op.launch(KernelId::attention_backward, {e.s, e.b, e.heads, e.w});
  of.memory.free(inner.ref, of.rank.place(call));
  return op.finish(bounded_product({2, e.flops()}));
}

}  // namespace shardlings::front
