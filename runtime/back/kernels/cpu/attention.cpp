// Causal multi-head attention (Vaswani et al. 2017), each head on strided matrices inside (s, b, 3w) and (s, b, w).
//
// Queries are taken in blocks of rows: a block needs the keys up to its own end only, which saves nearly half of the
// work for long sequences.
#include <algorithm>
#include <cmath>

#include "back/kernels/cpu/blas.h"
#include "back/kernels/cpu/convert.h"
#include "back/kernels/cpu/exp.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

constexpr Count kQueryBlock = 128;  // queries

struct Extents {
  Count s, b, heads, w;
  explicit Extents(const Kernel& k) : s(k.n[0]), b(k.n[1]), heads(k.n[2]), w(k.n[3]) {}
  Count head_size() const { return w / heads; }
  Count pairs() const { return s * s; }  // of a query and a key, for one head
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(head_size())); }
};

/// One head of one sequence: where its queries, keys and values begin, and how far apart their rows are.
struct Head {
  const float* q;
  const float* k;
  const float* v;
  Count stride;    // of q, k, v
  Count offset;    // of the head in a row of y
  Count stride_y;  // of y
  Head(const Extents& e, const float* qkv, Count sequence, Count head)
      : q(qkv + sequence * 3 * e.w + head * e.head_size()),
        k(q + e.w),
        v(k + e.w),
        stride(e.b * 3 * e.w),
        offset(sequence * e.w + head * e.head_size()),
        stride_y(e.b * e.w) {}
};

/// Rows [begin, end) of scores become probabilities over keys 0 to the row's own; 0 beyond.
SHARDLINGS_KERNEL void causal_softmax(float* scores, Count begin, Count end, Count s, float scale) {
  for (Count i = begin; i < end; ++i) {
    float* x = scores + i * s;
    const Count seen = i + 1;
    const float top = max_of(x, seen);
    map(x, x, seen, [top, scale](float v) { return fast_exp((v - top) * scale); });
    const float factor = 1.0F / sum(seen, [x](Count j) { return x[j]; });
    map(x, x, seen, [factor](float v) { return v * factor; });
    std::fill(x + seen, x + s, 0.0F);
  }
}

void forward_head(const Extents& e, const Head& h, float* p, float* y) {
  const Count d = e.head_size();
  for (Count begin = 0; begin < e.s; begin += kQueryBlock) {
    const Count end = std::min(begin + kQueryBlock, e.s);
    float* rows = p + begin * e.s;
    gemm(end - begin, end, d, 1.0F, {h.q + begin * h.stride, h.stride}, {h.k, h.stride, true}, 0.0F, rows, e.s);
    causal_softmax(p, begin, end, e.s, e.scale());
    gemm(end - begin, d, end, 1.0F, {rows, e.s}, {h.v, h.stride}, 0.0F, y + h.offset + begin * h.stride_y, h.stride_y);
  }
}

/// Rows [begin, end) of `grads`, gradients of probabilities, become those of scores.
SHARDLINGS_KERNEL void causal_softmax_backward(float* grads, const float* p, Count begin, Count end, Count s,
                                               float scale) {
  for (Count i = begin; i < end; ++i) {
    float* g = grads + i * s;
    const float* row = p + i * s;
    const Count seen = i + 1;
    const float dot = sum(seen, [g, row](Count j) { return g[j] * row[j]; });
    map(g, row, g, seen, [dot, scale](float v, float grad) { return v * (grad - dot) * scale; });
    std::fill(g + seen, g + end, 0.0F);
  }
}

/// grad_q, grad_k, grad_v: laid out as the queries, keys and values of h.
void backward_head(const Extents& e, const Head& h, const float* p, const float* grad_y, float* grads, float* grad_q) {
  const Count d = e.head_size();
  float* grad_k = grad_q + e.w;
  float* grad_v = grad_k + e.w;
  for (Count begin = 0; begin < e.s; begin += kQueryBlock) {
    const Count end = std::min(begin + kQueryBlock, e.s);
    const Count rows = end - begin;
    const float* p_rows = p + begin * e.s;
    float* grad_rows = grads + begin * e.s;
    const Matrix gy{grad_y + h.offset + begin * h.stride_y, h.stride_y};
    const Matrix queries{h.q + begin * h.stride, h.stride};
    // Keys before this block have a gradient already; those of this block get their first.
    const auto add_to_keys = [&](float* to, const float* left, Matrix right) {
      gemm(begin, d, rows, 1.0F, {left, e.s, true}, right, 1.0F, to, h.stride);
      gemm(rows, d, rows, 1.0F, {left + begin, e.s, true}, right, 0.0F, to + begin * h.stride, h.stride);
    };
    add_to_keys(grad_v, p_rows, gy);
    gemm(rows, end, d, 1.0F, gy, {h.v, h.stride, true}, 0.0F, grad_rows, e.s);
    causal_softmax_backward(grads, p, begin, end, e.s, e.scale());
    gemm(rows, d, end, 1.0F, {grad_rows, e.s}, {h.k, h.stride}, 0.0F, grad_q + begin * h.stride, h.stride);
    add_to_keys(grad_k, grad_rows, queries);
  }
}

void attention(const Kernel& k, Workspace& workspace) {
  const Extents e(k);
  const Count tokens = e.s * e.b;
  const bool bf16 = k.dtype == DType::bf16;
  float* room = workspace.floats(static_cast<std::size_t>(e.pairs() + (bf16 ? 4 * tokens * e.w : 0)));
  float* scratch = room;
  room += e.pairs();
  const float* qkv = as_floats(k.in[0], k.dtype, 3 * tokens * e.w, room);
  float* y = bf16 ? room : out<float>(k, 0);
  for (Count sequence = 0; sequence < e.b; ++sequence) {
    for (Count head = 0; head < e.heads; ++head) {
      const Count at = (sequence * e.heads + head) * e.pairs();
      const bool in_place = k.out[1] != nullptr && !bf16;
      float* p = in_place ? out<float>(k, 1) + at : scratch;
      forward_head(e, Head(e, qkv, sequence, head), p, y);
      if (bf16 && k.out[1] != nullptr) narrow(out<Bf16>(k, 1) + at, p, e.pairs());
    }
  }
  if (bf16) narrow(out<Bf16>(k, 0), y, tokens * e.w);
}

void attention_backward(const Kernel& k, Workspace& workspace) {
  const Extents e(k);
  const Count tokens = e.s * e.b;
  const bool bf16 = k.dtype == DType::bf16;
  float* room = workspace.floats(static_cast<std::size_t>(e.pairs() + (bf16 ? 7 * tokens * e.w + e.pairs() : 0)));
  float* scratch = room;
  room += e.pairs();
  const float* qkv = as_floats(k.in[0], k.dtype, 3 * tokens * e.w, room);
  const float* grad_y = as_floats(k.in[2], k.dtype, tokens * e.w, room);
  float* grad_qkv = bf16 ? room : out<float>(k, 0);
  float* widened = room + 3 * tokens * e.w;
  for (Count sequence = 0; sequence < e.b; ++sequence) {
    for (Count head = 0; head < e.heads; ++head) {
      const Count at = (sequence * e.heads + head) * e.pairs();
      if (bf16) widen(widened, in<Bf16>(k, 1) + at, e.pairs());
      const float* p = bf16 ? widened : in<float>(k, 1) + at;
      backward_head(e, Head(e, qkv, sequence, head), p, grad_y, scratch,
                    grad_qkv + sequence * 3 * e.w + head * e.head_size());
    }
  }
  if (bf16) narrow(out<Bf16>(k, 0), grad_qkv, 3 * tokens * e.w);
}

}  // namespace

void add_attention_kernels(KernelTable& table) {
  table[KernelId::attention] = attention;
  table[KernelId::attention_backward] = attention_backward;
}

}  // namespace shardlings::back::cpu
