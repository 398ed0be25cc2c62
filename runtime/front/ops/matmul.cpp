// Products of matrices.
#include "base/extents.h"
#include "front/ops/op.h"
#include "shardlings/ops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

struct ProductExtents {
  bool trans_a, trans_b;
  Count m, n, k;
};

/// Names the transposes in messages and checks that the inner extents agree.
ProductExtents extents(Op& op, const Operand& a, const Operand& b, Trans trans) {
  static constexpr const char* kNames[] = {"nn", "nt", "tn", "tt"};
  op.variant(kNames[static_cast<int>(trans)]);
  op.computes_on(a, "a");
  op.same_type(a, "a", b, "b");
  const bool trans_a = trans == tn || trans == tt;
  const bool trans_b = trans == nt || trans == tt;
  const Count k = trans_a ? a.rows() : a.cols();
  const Count k_of_b = trans_b ? b.cols() : b.rows();
  op.require(k == k_of_b, "a is {}, b is {}: the inner extents {} and {} differ", a.shape(), b.shape(), k, k_of_b);
  op.matrix_product();
  op.no_aliases();
  return {trans_a, trans_b, trans_a ? a.cols() : a.rows(), trans_b ? b.rows() : b.cols(), k};
}

/// A flat stretch of memory takes any product of its size; a matrix only one of its own extents.
bool holds_product(const Operand& c, const ProductExtents& e) {
  if (c.shape().rank() == 1) return c.size() == bounded_product({e.m, e.n});
  return c.rows() == e.m && c.cols() == e.n;
}

Reply run(Op& op, const ProductExtents& e, bool adds, DType to) {
  return op.run(KernelId::matmul, {e.m, e.n, e.k, e.trans_a, e.trans_b, adds, static_cast<Count>(to)},
                bounded_product({2, e.m, e.n, e.k}));
}

}  // namespace

Reply handle::matmul(OpContext& of, const Call& call) {
  const unpacked::matmul given(call);
  Op op(of, call);
  const Operand& a = op.reads(given.a);
  const Operand& b = op.reads(given.b);
  const ProductExtents e = extents(op, a, b, given.trans);
  op.returns(e.trans_a ? Shape{e.m, e.n} : with_cols(a.shape(), e.n), a.dtype());  // (s, b, …) stays (s, b, …)
  return run(op, e, false, a.dtype());
}

Reply handle::matmul_add(OpContext& of, const Call& call) {
  const unpacked::matmul_add given(call);
  Op op(of, call);
  const Operand& c = op.writes(given.c);
  const Operand& a = op.reads(given.a);
  const Operand& b = op.reads(given.b);
  const ProductExtents e = extents(op, a, b, given.trans);
  op.accumulates(c, "c", a, "a");
  op.require(holds_product(c, e), "c is {}, but the product of a {} and b {} is ({}, {})", c.shape(), a.shape(),
             b.shape(), e.m, e.n);
  return run(op, e, true, c.dtype());
}

}  // namespace shardlings::front
