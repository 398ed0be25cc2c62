// Attention of some queries over some keys, and what joins two of them to one.
#include "base/extents.h"
#include "front/ops/op.h"
#include "model/attention_pairs.h"
#include "model/operation_flops.h"

namespace shardlings::front {

using back::KernelId;
using detail::Call;
using detail::Reply;

namespace {

constexpr Count kMostPositions = Count{1} << 30;  // so that no product of two of them overflows
constexpr Count kForwardProducts = 2;             // q k^T, and that times v
constexpr Count kBackwardProducts = 5;            // q k^T once more, one for its gradient, three for those of q, k, v

/// Extents of a call, and which of its keys the kernel is given: those from the queries' document on.
struct PartialAttention {
  Count n = 0, b = 0, heads = 0, key_heads = 0, head_size = 0;
  Range queries, keys;  // positions
  Count skipped = 0;    // keys of other documents, before those of the queries'
  Count pairs = 0;      // of a query and a key that it sees, for one head

  Count looked_at() const { return keys.size() - skipped; }
  Count distance() const { return queries.begin - keys.begin - skipped; }
  Count key_width() const { return key_heads * head_size; }
  Count flops(Count products) const { return bounded_product({2, products, b, pairs, heads, head_size}); }
};

void check_position(Op& op, const char* what, Count position, Count positions) {
  op.require(position >= 0 && positions <= kMostPositions && position <= kMostPositions - positions,
             "{} is {}, with {} positions from there on: they must lie between 0 and 2^30", what, position, positions);
}

template <class Given>
PartialAttention extents_of(Op& op, const Given& given, const Operand& q, const Operand& kv) {
  op.same_type(q, "q", kv, "kv");
  op.require(q.shape().rank() == 3, "q is {}, but must be (n, b, h)", q.shape());
  op.require(kv.shape().rank() == 3 && kv.shape()[0] % 2 == 0, "kv is {}, but must be (2 m, b, u): keys, then values",
             kv.shape());
  PartialAttention e;
  e.n = q.shape()[0];
  e.b = q.shape()[1];
  op.require(kv.shape()[1] == e.b, "q is {}, kv is {}: the numbers of sequences {} and {} differ", q.shape(),
             kv.shape(), e.b, kv.shape()[1]);
  e.heads = given.heads;
  op.require(e.heads > 0 && q.cols() % e.heads == 0, "{} heads do not divide h = {} (q is {})", e.heads, q.cols(),
             q.shape());
  e.head_size = q.cols() / e.heads;
  op.require(
      e.head_size > 0 && kv.cols() % e.head_size == 0 && kv.cols() > 0 && e.heads % (kv.cols() / e.head_size) == 0,
      "keys are {} wide, which is not a number of heads of {} that divides {} heads of queries (q is {}, kv is {})",
      kv.cols(), e.head_size, e.heads, q.shape(), kv.shape());
  e.key_heads = kv.cols() / e.head_size;
  const Count m = kv.shape()[0] / 2;
  check_position(op, "first_query", given.first_query, e.n);
  check_position(op, "first_key", given.first_key, m);
  check_position(op, "document", given.document, 0);
  e.queries = {given.first_query, given.first_query + e.n};
  e.keys = {given.first_key, given.first_key + m};
  e.skipped = std::clamp<Count>(given.document - given.first_key, 0, m);
  e.pairs = model::seen_pairs(e.queries, e.keys, given.document);
  op.matrix_product();
  op.no_aliases();
  return e;
}

/// Where the kernel's keys, or its values, begin in a tensor laid out as kv.
void* begin_of(const PartialAttention& e, const Operand& kv, bool values) {
  const Count row = e.skipped + (values ? e.keys.size() : 0);
  return static_cast<char*>(kv.data) + row * e.b * e.key_width() * size_of(kv.dtype());
}

/// Of keys and values only those are read, or added to, that a query can see.
void touch(Op& op, const PartialAttention& e, const Operand& kv) {
  const Count seen = e.pairs == 0 ? 0 : std::min(e.looked_at(), e.queries.end - e.keys.begin - e.skipped);
  op.touches_only(kv, 2 * seen * e.b * e.key_width());
}

}  // namespace

Reply handle::partial_attention(OpContext& of, const Call& call) {
  const unpacked::partial_attention given(call);
  Op op(of, call);
  const Operand& q = op.reads(given.q);
  const Operand& kv = op.reads(given.kv);
  op.computes_on(q, "q");
  const PartialAttention e = extents_of(op, given, q, kv);
  op.returns(q.shape(), q.dtype());
  if (given.keeps_lse) op.returns({e.n, e.b, e.heads}, DType::f32);
  touch(op, e, kv);
  op.kernel().in[1] = begin_of(e, kv, false);
  op.kernel().in[2] = begin_of(e, kv, true);
  return op.run(KernelId::partial_attention, {e.n, e.looked_at(), e.b, e.heads, e.key_heads, e.head_size, e.distance()},
                e.flops(kForwardProducts));
}

Reply handle::partial_attention_backward_add(OpContext& of, const Call& call) {
  const unpacked::partial_attention_backward_add given(call);
  Op op(of, call);
  const Operand& grad_q = op.writes(given.grad_q);
  const Operand& grad_kv = op.writes(given.grad_kv);
  const Operand& q = op.reads(given.q);
  const Operand& kv = op.reads(given.kv);
  const Operand& y = op.reads(given.y);
  const Operand& lse = op.reads(given.lse);
  const Operand& grad_y = op.reads(given.grad_y);
  op.accumulates(grad_q, "grad_q", q, "q");
  op.same_type(grad_q, "grad_q", grad_kv, "grad_kv");
  const PartialAttention e = extents_of(op, given, q, kv);
  op.same_type(q, "q", y, "y");
  op.same_type(q, "q", grad_y, "grad_y");
  op.has_type(lse, "lse", DType::f32);
  op.same_size(q, "q", y, "y");
  op.same_size(q, "q", grad_y, "grad_y");
  op.same_size(q, "q", grad_q, "grad_q");
  op.same_size(kv, "kv", grad_kv, "grad_kv");
  op.has_size(lse, "lse", bounded_product({e.n, e.b, e.heads}), "head of each query");
  touch(op, e, kv);
  touch(op, e, grad_kv);
  back::Kernel& kernel = op.kernel();
  kernel.out[1] = begin_of(e, grad_kv, false);
  kernel.out[2] = begin_of(e, grad_kv, true);
  const void* const in[] = {q.data, begin_of(e, kv, false), begin_of(e, kv, true), y.data, lse.data, grad_y.data};
  std::copy(std::begin(in), std::end(in), kernel.in);
  return op.run(
      KernelId::partial_attention_backward_add,
      {e.n, e.looked_at(), e.b, e.heads, e.key_heads, e.head_size, e.distance(), static_cast<Count>(grad_q.dtype())},
      e.flops(kBackwardProducts));
}

Reply handle::merge_attention(OpContext& of, const Call& call) {
  const unpacked::merge_attention given(call);
  Op op(of, call);
  const Operand& y = op.writes(given.y);
  const Operand& lse = op.writes(given.lse);
  const Operand& other_y = op.reads(given.other_y);
  const Operand& other_lse = op.reads(given.other_lse);
  op.accumulates(y, "y", other_y, "other_y");
  op.same_size(y, "y", other_y, "other_y");
  op.has_type(lse, "lse", DType::f32);
  op.has_type(other_lse, "other_lse", DType::f32);
  op.same_size(lse, "lse", other_lse, "other_lse");
  op.require(lse.size() == 0 ? y.size() == 0 : y.size() % lse.size() == 0,
             "y is {}, lse is {}: lse must have one element for each head of each query", y.shape(), lse.shape());
  op.no_aliases();
  const Count head_size = lse.size() == 0 ? 0 : y.size() / lse.size();
  return op.run(KernelId::merge_attention, {lse.size(), head_size, static_cast<Count>(y.dtype())},
                model::kMergeFlops * y.size());
}

}  // namespace shardlings::front
