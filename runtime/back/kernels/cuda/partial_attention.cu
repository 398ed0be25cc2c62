// Causal attention of some queries over some keys with log-sum-exp, its gradients, and the joining of two parts
// (Dao et al. 2022, sections 3.1 and B.2): products of cuBLAS on strided matrices inside (n, b, w), one head of all
// sequences at a time, since heads that share a head of keys add to the same gradients. Scores are f32; probabilities
// and the gradients of scores have the operands' type, as they are multiplied.
#include "back/kernels/cuda/blas.h"
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

struct PartialExtents {
  Count n, m, b, heads, key_heads, d, distance;
  explicit PartialExtents(const Kernel& k)
      : n(k.n[0]), m(k.n[1]), b(k.n[2]), heads(k.n[3]), key_heads(k.n[4]), d(k.n[5]), distance(k.n[6]) {}
  Count width() const { return heads * d; }
  Count key_width() const { return key_heads * d; }
  /// Keys that the last query sees, and no query more.
  Count seen() const { return std::clamp<Count>(distance + n, 0, m); }
  Count scores() const { return b * n * seen(); }  // of one head
  float scale() const { return 1.0F / sqrtf(static_cast<float>(d)); }
};

/// What kernels know of the rows of one head's scores: row r is query r % n of sequence r / n.
struct ScoreRows {
  Count n, b, heads, d, head, seen, distance;
  float scale;
  ScoreRows(const PartialExtents& e, Count of_head)
      : n(e.n), b(e.b), heads(e.heads), d(e.d), head(of_head), seen(e.seen()), distance(e.distance), scale(e.scale()) {}
  __device__ Count seen_by(Count r) const {
    const Count keys = distance + r % n + 1;
    return keys < 0 ? 0 : keys < seen ? keys : seen;
  }
  /// The row's element of (n, b, heads); times d: where it begins in (n, b, w).
  __device__ Count place(Count r) const { return (r % n * b + r / n) * heads + head; }
};

template <class T>
struct TypedMatrices {
  const PartialExtents& e;
  /// Of (n, b, w), one matrix for each sequence.
  Matrix of_queries(const void* x, Count head, bool transposed = false) const {
    return {static_cast<const T*>(x) + head * e.d, e.b * e.width(), transposed, e.width()};
  }
  /// Of (m, b, u): the head of keys that a head of queries sees.
  Matrix of_keys(const void* x, Count head, bool transposed = false) const {
    return {static_cast<const T*>(x) + head / (e.heads / e.key_heads) * e.d, e.b * e.key_width(), transposed,
            e.key_width()};
  }
  /// Of what is computed for one head.
  Matrix of_scores(const void* x, bool transposed = false) const { return {x, e.seen(), transposed, e.n * e.seen()}; }
};

/// c = a b, or +=, for each sequence. c is described as the inputs are.
void multiply(const PartialExtents& e, const LaneContext& lane, DType dtype, Count m, Count n, Count k, Matrix a,
              Matrix b, Matrix c, DType dtype_c, bool adds) {
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a;
  p.b = b;
  p.dtype = dtype;
  p.c = const_cast<void*>(c.data);  // NOLINT: an output described as the inputs are
  p.stride_c = c.stride;
  p.next_c = c.next;
  p.dtype_c = dtype_c;
  p.count = e.b;
  p.beta = adds ? 1.0F : 0.0F;
  lane.blas->multiply(p);
}

/// Scores become probabilities over the keys that each query sees, 0 beyond; lse may be null.
template <class T>
__global__ void partial_softmax_kernel(T* p, float* lse, const float* scores, ScoreRows of, Count rows) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const Count seen = of.seen_by(r);
    const float* x = scores + r * of.seen;
    const float scale = of.scale;
    float top = -INFINITY;
    each_column<Single>(
        seen, [&](Count, float v) { top = Largest{}(top, v); }, x);
    top = largest_of_block(top);
    float total = 0;
    each_column<Single>(
        seen, [&](Count, float v) { total += expf((v - top) * scale); }, x);
    total = sum_block(total);
    const float factor = 1.0F / total;
    map_columns<Single>(
        of.seen, [&](Count i, float v) { return i < seen ? expf((v - top) * scale) * factor : 0.0F; }, p + r * of.seen,
        x);
    if (lse != nullptr && threadIdx.x == 0) lse[of.place(r)] = seen == 0 ? -INFINITY : top * scale + logf(total);
  }
}

/// Scores become probabilities, and gradients of those gradients of the scores.
template <class T>
__global__ void partial_softmax_backward_kernel(T* p, T* grads, const float* scores, const float* grads_of_p,
                                                const T* y, const T* grad_y, const float* lse, ScoreRows of,
                                                Count rows) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const Count seen = of.seen_by(r), begin = of.place(r) * of.d;
    const float scale = of.scale, top = lse[of.place(r)];
    float dot = 0;
    each_column<Single>(
        of.d, [&](Count, float v, float g) { dot += v * g; }, y + begin, grad_y + begin);
    dot = sum_block(dot);
    const float* x = scores + r * of.seen;
    // First the gradients: probabilities may take the place of the scores.
    map_columns<Single>(
        of.seen, [&](Count i, float v, float g) { return i < seen ? expf(v * scale - top) * (g - dot) * scale : 0.0F; },
        grads + r * of.seen, x, grads_of_p + r * of.seen);
    map_columns<Single>(
        of.seen, [&](Count i, float v) { return i < seen ? expf(v * scale - top) : 0.0F; }, p + r * of.seen, x);
  }
}

/// y = 0 and lse = -infinity where no query sees any key.
template <class T>
__global__ void nothing_seen_kernel(T* y, float* lse, Count n, Count d) {
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Count i = first; i < n * d; i += static_cast<Count>(gridDim.x) * blockDim.x) {
    store(y[i], 0.0F);
    if (lse != nullptr && i % d == 0) lse[i / d] = -INFINITY;
  }
}

template <class T>
void partial_attention_of(const Kernel& k, const LaneContext& lane) {
  const PartialExtents e(k);
  const Count rows = e.b * e.n, seen = e.seen();
  if (seen == 0) {
    enqueue(lane, grid_for(rows * e.width()), nothing_seen_kernel<T>, out<T>(k, 0), out<float>(k, 1), rows * e.heads,
            e.d);
    return;
  }
  const TypedMatrices<T> of{e};
  const bool narrow = sizeof(T) < sizeof(float);
  const Scratch scores(lane, e.scores() * 4), probabilities(lane, narrow ? e.scores() * 2 : 0);
  T* const p = narrow ? probabilities.as<T>() : scores.as<T>();
  for (Count head = 0; head < e.heads; ++head) {
    multiply(e, lane, k.dtype, e.n, seen, e.d, of.of_queries(k.in[0], head), of.of_keys(k.in[1], head, true),
             of.of_scores(scores.as<void>()), DType::f32, false);
    enqueue(lane, grid_of_rows(rows, seen), partial_softmax_kernel<T>, p, out<float>(k, 1), scores.as<float>(),
            ScoreRows(e, head), rows);
    multiply(e, lane, k.dtype, e.n, e.d, seen, of.of_scores(p), of.of_keys(k.in[2], head),
             of.of_queries(k.out[0], head), k.dtype, false);
  }
}

template <class T, class A>
void partial_attention_backward_of(const Kernel& k, const LaneContext& lane) {
  const PartialExtents e(k);
  const Count rows = e.b * e.n, seen = e.seen();
  if (seen == 0) return;
  const TypedMatrices<T> of{e};
  const TypedMatrices<A> to{e};
  const auto sums = static_cast<DType>(k.n[7]);
  const bool narrow = sizeof(T) < sizeof(float);
  const Scratch scores(lane, e.scores() * 4), grads_of_p(lane, e.scores() * 4);
  const Scratch narrow_p(lane, narrow ? e.scores() * 2 : 0), narrow_grads(lane, narrow ? e.scores() * 2 : 0);
  T* const p = narrow ? narrow_p.as<T>() : scores.as<T>();
  T* const grads = narrow ? narrow_grads.as<T>() : grads_of_p.as<T>();
  for (Count head = 0; head < e.heads; ++head) {
    const Matrix q = of.of_queries(k.in[0], head), grad_y = of.of_queries(k.in[5], head);
    multiply(e, lane, k.dtype, e.n, seen, e.d, q, of.of_keys(k.in[1], head, true), of.of_scores(scores.as<void>()),
             DType::f32, false);
    multiply(e, lane, k.dtype, e.n, seen, e.d, grad_y, of.of_keys(k.in[2], head, true),
             of.of_scores(grads_of_p.as<void>()), DType::f32, false);
    enqueue(lane, grid_of_rows(rows, std::max(seen, e.d)), partial_softmax_backward_kernel<T>, p, grads,
            scores.as<float>(), grads_of_p.as<float>(), in<T>(k, 3), in<T>(k, 5), in<float>(k, 4), ScoreRows(e, head),
            rows);
    multiply(e, lane, k.dtype, seen, e.d, e.n, of.of_scores(p, true), grad_y, to.of_keys(k.out[2], head), sums, true);
    multiply(e, lane, k.dtype, seen, e.d, e.n, of.of_scores(grads, true), q, to.of_keys(k.out[1], head), sums, true);
    multiply(e, lane, k.dtype, e.n, e.d, seen, of.of_scores(grads), of.of_keys(k.in[1], head),
             to.of_queries(k.out[0], head), sums, true);
  }
}

/// Of row r: what its two parts are multiplied by. Where neither has seen a key, nothing changes.
struct MergeWeights {
  float of_y = 1, of_other = 0, joined;
  __device__ MergeWeights(float a, float b) : joined(a) {
    const float top = b > a ? b : a;
    if (top == -INFINITY) return;
    joined = top + logf(expf(a - top) + expf(b - top));
    of_y = expf(a - joined);
    of_other = expf(b - joined);
  }
};

template <class Y, class X>
__global__ void merge_kernel(Y* y, const float* lse, const X* other, const float* other_lse, Count size, Count d) {
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Count i = first; i < size; i += static_cast<Count>(gridDim.x) * blockDim.x) {
    const MergeWeights weights(lse[i / d], other_lse[i / d]);
    store(y[i], load(y[i]) * weights.of_y + load(other[i]) * weights.of_other);
  }
}

/// After all elements: they are weighted by what was there.
__global__ void merge_lse_kernel(float* lse, const float* other_lse, Count rows) {
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Count r = first; r < rows; r += static_cast<Count>(gridDim.x) * blockDim.x) {
    lse[r] = MergeWeights(lse[r], other_lse[r]).joined;
  }
}

bool has_no_query(const Kernel& k) {
  return k.n[0] == 0 || k.n[2] == 0;
}

void partial_attention(const Kernel& k, const LaneContext& lane) {
  if (has_no_query(k)) return;
  by_float(k.dtype, [&](auto type) { partial_attention_of<decltype(type)>(k, lane); });
}

void partial_attention_backward_add(const Kernel& k, const LaneContext& lane) {
  if (has_no_query(k)) return;
  by_floats(k.dtype, k.n[7], [&](auto type, auto accumulated) {
    partial_attention_backward_of<decltype(type), decltype(accumulated)>(k, lane);
  });
}

void merge_attention(const Kernel& k, const LaneContext& lane) {
  const Count rows = k.n[0], d = k.n[1];
  if (rows == 0 || d == 0) return;
  by_floats(k.dtype, k.n[2], [&](auto operands, auto accumulated) {
    using X = decltype(operands);
    using Y = decltype(accumulated);
    enqueue(lane, grid_for(rows * d), merge_kernel<Y, X>, out<Y>(k, 0), out<float>(k, 1), in<X>(k, 0), in<float>(k, 1),
            rows * d, d);
  });
  enqueue(lane, grid_for(rows), merge_lse_kernel, out<float>(k, 1), in<float>(k, 1), rows);
}

}  // namespace

void add_partial_attention_kernels(KernelTable& table) {
  table[KernelId::partial_attention] = partial_attention;
  table[KernelId::partial_attention_backward_add] = partial_attention_backward_add;
  table[KernelId::merge_attention] = merge_attention;
}

}  // namespace shardlings::back::cuda
