// Causal attention of some queries over some keys with log-sum-exp, its gradients, and the joining of two parts
// (Dao et al. 2022, sections 3.1 and B.2). Each head works on strided matrices inside (n, b, w).
//
// Queries are taken in blocks of rows: a block needs the keys up to its last query's position only.
#include <algorithm>
#include <cmath>

#include "back/kernels/cpu/blas.h"
#include "back/kernels/cpu/convert.h"
#include "back/kernels/cpu/exp.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

constexpr Count kPartialBlock = 128;  // queries

struct PartialExtents {
  Count n, m, b, heads, key_heads, d, distance;
  explicit PartialExtents(const Kernel& k)
      : n(k.n[0]), m(k.n[1]), b(k.n[2]), heads(k.n[3]), key_heads(k.n[4]), d(k.n[5]), distance(k.n[6]) {}
  Count width() const { return heads * d; }
  Count key_width() const { return key_heads * d; }
  Count queries() const { return n * b * width(); }  // elements; of y and its gradient, too
  Count keys() const { return m * b * key_width(); }
  Count block() const { return std::min(kPartialBlock, n) * m; }  // scores of a block
  /// Keys that query i sees: the first ones.
  Count seen(Count i) const { return std::clamp<Count>(distance + i + 1, 0, m); }
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(d)); }
};

/// One head of one sequence, by where it begins in (n, b, w), in (m, b, u) and in (n, b, heads), and how far apart rows
/// are.
struct PartialHead {
  Count q, k, lse;
  Count stride, key_stride, lse_stride;
  PartialHead(const PartialExtents& e, Count sequence, Count head)
      : q(sequence * e.width() + head * e.d),
        k(sequence * e.key_width() + head / (e.heads / e.key_heads) * e.d),
        lse(sequence * e.heads + head),
        stride(e.b * e.width()),
        key_stride(e.b * e.key_width()),
        lse_stride(e.b * e.heads) {}
};

/// Rows of scores become probabilities over the keys that each query sees, 0 beyond up to `width`; lse may be null.
SHARDLINGS_KERNEL void partial_softmax(float* scores, const PartialExtents& e, Range rows, Count width, float* lse,
                                       Count lse_stride) {
  const float scale = e.scale();
  for (Count i = rows.begin; i < rows.end; ++i) {
    float* x = scores + (i - rows.begin) * width;
    const Count seen = e.seen(i);
    std::fill(x + seen, x + width, 0.0F);
    const float top = max_of(x, seen);
    map(x, x, seen, [top, scale](float v) { return fast_exp((v - top) * scale); });
    const float total = sum(seen, [x](Count j) { return x[j]; });
    if (lse != nullptr) lse[i * lse_stride] = seen == 0 ? -__builtin_inff() : top * scale + std::log(total);
    const float factor = 1.0F / total;
    map(x, x, seen, [factor](float v) { return v * factor; });
  }
}

/// Rows of y where no key is seen.
void clear_rows(float* y, Count stride, Count width, Range rows) {
  for (Count i = rows.begin; i < rows.end; ++i) std::fill(y + i * stride, y + i * stride + width, 0.0F);
}

void forward_of_head(const PartialExtents& e, const PartialHead& h, const float* q, const float* k, const float* v,
                     float* scores, float* y, float* lse) {
  for (Count begin = 0; begin < e.n; begin += kPartialBlock) {
    const Range rows{begin, std::min(begin + kPartialBlock, e.n)};
    const Count width = e.seen(rows.end - 1);
    if (width > 0) {
      gemm(rows.size(), width, e.d, 1.0F, {q + h.q + begin * h.stride, h.stride}, {k + h.k, h.key_stride, true}, 0.0F,
           scores, width);
    }
    partial_softmax(scores, e, rows, width, lse == nullptr ? nullptr : lse + h.lse, h.lse_stride);
    if (width == 0) {
      clear_rows(y + h.q, h.stride, e.d, rows);
      continue;
    }
    gemm(rows.size(), e.d, width, 1.0F, {scores, width}, {v + h.k, h.key_stride}, 0.0F, y + h.q + begin * h.stride,
         h.stride);
  }
}

void partial_attention(const Kernel& k, Workspace& workspace) {
  const PartialExtents e(k);
  const bool bf16 = k.dtype == DType::bf16;
  const Count converted = bf16 ? 2 * e.queries() + 2 * e.keys() : 0;
  float* scores = workspace.floats(static_cast<std::size_t>(e.block() + converted));
  float* room = scores + e.block();
  const float* q = as_floats(k.in[0], k.dtype, e.queries(), room);
  const float* keys = as_floats(k.in[1], k.dtype, e.keys(), room);
  const float* values = as_floats(k.in[2], k.dtype, e.keys(), room);
  float* y = bf16 ? room : out<float>(k, 0);
  for (Count sequence = 0; sequence < e.b; ++sequence) {
    for (Count head = 0; head < e.heads; ++head) {
      forward_of_head(e, PartialHead(e, sequence, head), q, keys, values, scores, y, out<float>(k, 1));
    }
  }
  if (bf16) narrow(out<Bf16>(k, 0), y, e.queries());
}

struct PartialInputs {
  const float *q, *k, *v, *y, *lse, *grad;
};
struct PartialGrads {
  float *q, *k, *v;
};

/// Rows of scores become probabilities, and rows of `grads`, gradients of those, become gradients of the scores.
SHARDLINGS_KERNEL void partial_softmax_backward(float* scores, float* grads, const PartialExtents& e,
                                                const PartialHead& h, const PartialInputs& in, Range rows,
                                                Count width) {
  const float scale = e.scale();
  for (Count i = rows.begin; i < rows.end; ++i) {
    float* p = scores + (i - rows.begin) * width;
    float* g = grads + (i - rows.begin) * width;
    const Count seen = e.seen(i);
    const float lse = in.lse[h.lse + i * h.lse_stride];
    const float* y = in.y + h.q + i * h.stride;
    const float* grad = in.grad + h.q + i * h.stride;
    // Over ALL keys: what the softmax's own gradient subtracts.
    const float dot = sum(e.d, [y, grad](Count j) { return y[j] * grad[j]; });
    map(p, p, seen, [lse, scale](float v) { return fast_exp(v * scale - lse); });
    map(g, p, g, seen, [dot, scale](float v, float of_p) { return v * (of_p - dot) * scale; });
    std::fill(p + seen, p + width, 0.0F);
    std::fill(g + seen, g + width, 0.0F);
  }
}

void backward_of_head(const PartialExtents& e, const PartialHead& h, const PartialInputs& in, float* scores,
                      const PartialGrads& to) {
  float* grads = scores + e.block();
  const Matrix k{in.k + h.k, h.key_stride};
  for (Count begin = 0; begin < e.n; begin += kPartialBlock) {
    const Range rows{begin, std::min(begin + kPartialBlock, e.n)};
    const Count width = e.seen(rows.end - 1), count = rows.size(), first = h.q + begin * h.stride;
    if (width == 0) continue;
    const Matrix q{in.q + first, h.stride}, grad{in.grad + first, h.stride};
    gemm(count, width, e.d, 1.0F, q, {k.data, k.stride, true}, 0.0F, scores, width);
    gemm(count, width, e.d, 1.0F, grad, {in.v + h.k, h.key_stride, true}, 0.0F, grads, width);
    partial_softmax_backward(scores, grads, e, h, in, rows, width);
    gemm(width, e.d, count, 1.0F, {scores, width, true}, grad, 1.0F, to.v + h.k, h.key_stride);
    gemm(width, e.d, count, 1.0F, {grads, width, true}, q, 1.0F, to.k + h.k, h.key_stride);
    gemm(count, e.d, width, 1.0F, {grads, width}, k, 1.0F, to.q + first, h.stride);
  }
}

void partial_attention_backward_add(const Kernel& k, Workspace& workspace) {
  const PartialExtents e(k);
  const bool bf16 = k.dtype == DType::bf16, rounds = static_cast<DType>(k.n[7]) == DType::bf16;
  const Count converted = bf16 ? 3 * e.queries() + 2 * e.keys() : 0;
  const Count sums = rounds ? e.queries() + 2 * e.keys() : 0;
  float* scores = workspace.floats(static_cast<std::size_t>(2 * e.block() + converted + sums));
  float* room = scores + 2 * e.block();
  const PartialInputs in{as_floats(k.in[0], k.dtype, e.queries(), room),
                         as_floats(k.in[1], k.dtype, e.keys(), room),
                         as_floats(k.in[2], k.dtype, e.keys(), room),
                         as_floats(k.in[3], k.dtype, e.queries(), room),
                         cpu::in<float>(k, 4),
                         as_floats(k.in[5], k.dtype, e.queries(), room)};
  const Count sizes[] = {e.queries(), e.keys(), e.keys()};
  float* to[3];
  for (int i = 0; i < 3; ++i) {
    to[i] = rounds ? room : out<float>(k, i);
    if (!rounds) continue;
    widen(room, out<Bf16>(k, i), sizes[i]);
    room += sizes[i];
  }
  for (Count sequence = 0; sequence < e.b; ++sequence) {
    for (Count head = 0; head < e.heads; ++head) {
      backward_of_head(e, PartialHead(e, sequence, head), in, scores, {to[0], to[1], to[2]});
    }
  }
  for (int i = 0; rounds && i < 3; ++i) narrow(out<Bf16>(k, i), to[i], sizes[i]);
}

template <class Y, class X>
void merge_rows(Y* y, float* lse, const X* other, const float* other_lse, Count rows, Count cols) {
  for (Count r = 0; r < rows; ++r) {
    const float a = lse[r], b = other_lse[r];
    const float top = b > a ? b : a;
    if (top == -__builtin_inff()) continue;  // neither has seen a key
    const float joined = top + std::log(fast_exp(a - top) + fast_exp(b - top));
    const float of_y = fast_exp(a - joined), of_other = fast_exp(b - joined);
    map(y + r * cols, y + r * cols, other + r * cols, cols,
        [of_y, of_other](float v, float w) { return v * of_y + w * of_other; });
    lse[r] = joined;
  }
}

SHARDLINGS_KERNEL void merge_attention(const Kernel& k, Workspace&) {
  by_floats(k.dtype, k.n[2], [&](auto operands, auto accumulated) {
    using X = decltype(operands);
    using Y = decltype(accumulated);
    merge_rows(out<Y>(k, 0), out<float>(k, 1), in<X>(k, 0), in<float>(k, 1), k.n[0], k.n[1]);
  });
}

}  // namespace

void add_partial_attention_kernels(KernelTable& table) {
  table[KernelId::partial_attention] = partial_attention;
  table[KernelId::partial_attention_backward_add] = partial_attention_backward_add;
  table[KernelId::merge_attention] = merge_attention;
}

}  // namespace shardlings::back::cpu
