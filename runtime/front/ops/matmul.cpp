// matmul, matmul_add: tensor[0..1] = a, b (matmul_add: c, a, b); number[0] = Trans.
#include "front/ops/op.h"
#include "shardlings/ops.h"

namespace shardlings::front {
namespace {

using back::KernelId;
using detail::Call;
using detail::Reply;

struct ProductExtents {
  bool trans_a, trans_b;
  Count m, n, k;
};

/// Names the transposes in messages and checks that the inner extents agree.
ProductExtents extents(Op& op, const Operand& a, const Operand& b) {
  static constexpr const char* kNames[] = {"nn", "nt", "tn", "tt"};
  const auto trans = static_cast<Trans>(op.call().number[0]);
  op.rename(fmt::format("{} ({})", name_of(op.call().verb), kNames[static_cast<int>(trans)]));
  op.computes_on(a, "a");
  op.same_type(a, "a", b, "b");
  const bool trans_a = trans == tn || trans == tt;
  const bool trans_b = trans == nt || trans == tt;
  const Count k = trans_a ? a.rows() : a.cols();
  const Count k_of_b = trans_b ? b.cols() : b.rows();
  op.require(k == k_of_b, "a is {}, b is {}: the inner extents {} and {} differ", to_text(a.shape()),
             to_text(b.shape()), k, k_of_b);
  op.matrix_product();
  op.no_aliases();
  return {trans_a, trans_b, trans_a ? a.cols() : a.rows(), trans_b ? b.rows() : b.cols(), k};
}

/// A flat stretch of memory takes any product of its size; a matrix only one of its own extents.
bool holds_product(const Operand& c, const ProductExtents& e) {
  if (c.shape().rank() == 1) return c.size() == e.m * e.n;
  return c.rows() == e.m && c.cols() == e.n;
}

Reply run(Op& op, const ProductExtents& e, bool adds, DType to) {
  return op.run(KernelId::matmul, {e.m, e.n, e.k, e.trans_a, e.trans_b, adds, static_cast<Count>(to)},
                2 * e.m * e.n * e.k);
}

Reply matmul(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand a = op.reads(0, "a");
  const Operand b = op.reads(1, "b");
  const ProductExtents e = extents(op, a, b);
  op.returns(e.trans_a ? Shape{e.m, e.n} : with_cols(a.shape(), e.n), a.dtype());  // (s, b, …) stays (s, b, …)
  return run(op, e, false, a.dtype());
}

Reply matmul_add(RankFront& front, const Call& call) {
  Op op(front, call);
  const Operand c = op.writes(0, "c");
  const Operand a = op.reads(1, "a");
  const Operand b = op.reads(2, "b");
  const ProductExtents e = extents(op, a, b);
  op.accumulates(c, "c", a, "a");
  op.require(holds_product(c, e), "c is {}, but the product of a {} and b {} is ({}, {})", to_text(c.shape()),
             to_text(a.shape()), to_text(b.shape()), e.m, e.n);
  return run(op, e, true, c.dtype());
}

}  // namespace

void add_matmul_handlers(HandlerTable& table) {
  const auto set = [&](detail::Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(detail::Verb::matmul, matmul);
  set(detail::Verb::matmul_add, matmul_add);
}

}  // namespace shardlings::front
