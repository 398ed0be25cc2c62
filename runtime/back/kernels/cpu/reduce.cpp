// Ordered reduction over the inputs of several ranks.
#include <algorithm>

#include "back/kernels/cpu/table.h"
#include "shardlings/group.h"

namespace shardlings::back::cpu {
namespace {

/// How many elements are reduced at a time: the partial results stay in the first-level cache.
constexpr Count kReduceBlock = 1024;

template <class X, class P, class F>
void combine(P* partial, const X* x, Count n, F f) {
#pragma omp simd
  for (Count i = 0; i < n; ++i) partial[i] = f(partial[i], static_cast<P>(load(x[i])));
}

template <class X, class P>
void combine(P* partial, const X* x, Count n, ReduceOp op) {
  // b != b: a NaN comes through.
  // NOLINTBEGIN(misc-redundant-expression)
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean: return combine(partial, x, n, [](P a, P b) { return a + b; });
    case ReduceOp::max: return combine(partial, x, n, [](P a, P b) { return b > a || b != b ? b : a; });
    case ReduceOp::min: return combine(partial, x, n, [](P a, P b) { return b < a || b != b ? b : a; });
  }
  // NOLINTEND(misc-redundant-expression)
}

/// Reduces elements [begin, begin + n) of all inputs. First: type of in[0]; X: of the others; Y: of the result.
template <class First, class X, class Y>
void reduce_block(const Kernel& k, Count begin, Count n) {
  const auto op = static_cast<ReduceOp>(k.n[2]);
  float partial[kReduceBlock];
  const First* first = in<First>(k, 0) + begin;
  for (Count i = 0; i < n; ++i) partial[i] = load(first[i]);
  for (int j = 1; j < static_cast<int>(k.n[1]); ++j) combine(partial, in<X>(k, j) + begin, n, op);
  const bool divides = op == ReduceOp::mean && k.n[5] == 0;
  const auto divisor = divides ? static_cast<float>(k.n[3]) : 1.0F;
  Y* y = out<Y>(k, 0) + begin;
#pragma omp simd
  for (Count i = 0; i < n; ++i) store(y[i], partial[i] / divisor);
}

template <class First, class X, class Y>
void reduce_all(const Kernel& k) {
  for (Count begin = 0; begin < k.n[0]; begin += kReduceBlock) {
    reduce_block<First, X, Y>(k, begin, std::min(kReduceBlock, k.n[0] - begin));
  }
}

/// Integers: sums wrap around, a mean is rounded towards zero.
inline void reduce_integers(const Kernel& k) {
  const auto op = static_cast<ReduceOp>(k.n[2]);
  const bool divides = op == ReduceOp::mean && k.n[5] == 0;
  auto* y = out<std::int32_t>(k, 0);
  for (Count i = 0; i < k.n[0]; ++i) {
    std::int32_t value = in<std::int32_t>(k, 0)[i];
    for (int j = 1; j < static_cast<int>(k.n[1]); ++j) {
      const std::int32_t x = in<std::int32_t>(k, j)[i];
      switch (op) {
        case ReduceOp::sum:
        case ReduceOp::mean:
          value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(x));
          break;
        case ReduceOp::max: value = std::max(value, x); break;
        case ReduceOp::min: value = std::min(value, x); break;
      }
    }
    y[i] = divides ? static_cast<std::int32_t>(value / k.n[3]) : value;
  }
}

/// The largest of scales (e8m0): their codes rise with them, and NaN has the largest one.
inline void reduce_scales(const Kernel& k) {
  auto* y = out<std::uint8_t>(k, 0);
  for (Count i = 0; i < k.n[0]; ++i) {
    std::uint8_t value = in<std::uint8_t>(k, 0)[i];
    for (int j = 1; j < static_cast<int>(k.n[1]); ++j) value = std::max(value, in<std::uint8_t>(k, j)[i]);
    y[i] = value;
  }
}

SHARDLINGS_KERNEL void reduce(const Kernel& k, Workspace&) {
  const bool from_partial = k.n[4] != 0;
  const bool to_partial = k.n[5] != 0;
  if (k.dtype == DType::i32) return reduce_integers(k);
  if (k.dtype == DType::e8m0) return reduce_scales(k);
  if (k.dtype == DType::f32) return reduce_all<float, float, float>(k);
  if (from_partial && to_partial) return reduce_all<float, Bf16, float>(k);
  if (from_partial) return reduce_all<float, Bf16, Bf16>(k);
  if (to_partial) return reduce_all<Bf16, Bf16, float>(k);
  return reduce_all<Bf16, Bf16, Bf16>(k);
}

}  // namespace

void add_reduce_kernels(KernelTable& table) {
  table[KernelId::reduce] = reduce;
}

}  // namespace shardlings::back::cpu
