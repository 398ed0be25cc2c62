// Causal multi-head attention (Vaswani et al. 2017): batched products of cuBLAS on strided matrices inside (s, b, 3w)
// and (s, b, w), and a softmax between them. Scores are f32; probabilities have the operands' type, as they are kept.
#include "back/kernels/cuda/blas.h"
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

struct Extents {
  Count s, b, heads, w;
  explicit Extents(const Kernel& k) : s(k.n[0]), b(k.n[1]), heads(k.n[2]), w(k.n[3]) {}
  Count head_size() const { return w / heads; }
  Count pairs() const { return s * s; }  // of a query and a key, for one head
  float scale() const { return 1.0F / sqrtf(static_cast<float>(head_size())); }
};

/// What one call of the library computes: all heads of a sequence, or a head of all sequences, whichever are more. Only
/// along one of the two are matrices equally far apart.
struct Batches {
  Count count, calls;
  bool of_heads;
  explicit Batches(const Extents& e)
      : count(std::max(e.heads, e.b)), calls(std::min(e.heads, e.b)), of_heads(e.heads >= e.b) {}
  /// First element of a call's matrices, which begin at `head` and `sequence` times these.
  Count begin(Count call, Count head, Count sequence) const { return call * (of_heads ? sequence : head); }
  Count next(Count head, Count sequence) const { return of_heads ? head : sequence; }
};

/// Operands of a call as cuBLAS wants them.
struct Operands {
  const Extents& e;
  Batches batches;
  DType dtype;

  explicit Operands(const Extents& extents, DType type) : e(extents), batches(extents), dtype(type) {}

  Count size() const { return dtype == DType::bf16 ? 2 : 4; }
  template <class V>
  V* at(V* base, Count element) const {
    using Byte = std::conditional_t<std::is_const_v<V>, const char, char>;
    return static_cast<Byte*>(base) + element * size();
  }
  /// Queries, keys or values (part 0, 1, 2) of (s, b, 3w).
  Matrix of_qkv(const void* qkv, Count part, Count call, bool transposed) const {
    const Count begin = part * e.w + batches.begin(call, e.head_size(), 3 * e.w);
    return {at(qkv, begin), e.b * 3 * e.w, transposed, batches.next(e.head_size(), 3 * e.w)};
  }
  /// Of (s, b, w).
  Matrix of_y(const void* y, Count call) const {
    return {at(y, batches.begin(call, e.head_size(), e.w)), e.b * e.w, false, batches.next(e.head_size(), e.w)};
  }
  /// First matrix of a call in (b, heads, s, s).
  Count pairs_begin(Count call) const { return batches.begin(call, e.pairs(), e.heads * e.pairs()); }
  Count pairs_next() const { return batches.next(e.pairs(), e.heads * e.pairs()); }
  /// (s, s) matrices that follow one another.
  Matrix of_scratch(const void* scores, bool transposed) const { return {scores, e.s, transposed, e.pairs()}; }
  Matrix of_pairs(const void* p, Count call, bool transposed) const {
    return {at(p, pairs_begin(call)), e.s, transposed, pairs_next()};
  }
};

/// Where the matrices of a call lie in memory: `next` elements apart.
struct Placed {
  Count next;
  Count s;
  /// First element of row r of all the call's rows.
  __device__ Count row(Count r) const { return r / s * next + r % s * s; }
};

/// Rows of scores become probabilities over keys 0 to the row's own; 0 beyond.
template <class T>
__global__ void causal_softmax_kernel(T* p, Placed at, const float* scores, Count rows, float scale) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const Count seen = r % at.s + 1;
    const float* x = scores + r * at.s;
    T* y = p + at.row(r);
    float top = -INFINITY;
    each_column<Single>(
        seen, [&](Count, float v) { top = Largest{}(top, v); }, x);
    top = largest_of_block(top);
    float total = 0;
    each_column<Single>(
        seen, [&](Count, float v) { total += expf((v - top) * scale); }, x);
    const float factor = 1.0F / sum_block(total);
    map_columns<Single>(
        at.s, [&](Count i, float v) { return i < seen ? expf((v - top) * scale) * factor : 0.0F; }, y, x);
  }
}

/// Gradients of probabilities become those of scores.
template <class T>
__global__ void causal_softmax_backward_kernel(T* out, const float* grads, const T* p, Placed at, Count rows,
                                               float scale) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const Count seen = r % at.s + 1;
    const float* g = grads + r * at.s;
    const T* row = p + at.row(r);
    float dot = 0;
    each_column<Single>(
        seen, [&](Count, float grad, float v) { dot += grad * v; }, g, row);
    dot = sum_block(dot);
    map_columns<Single>(
        at.s, [&](Count i, float grad, float v) { return i < seen ? v * (grad - dot) * scale : 0.0F; }, out + r * at.s,
        g, row);
  }
}

Product product_of(const Operands& o, Count m, Count n, Count k, Matrix a, Matrix b) {
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a;
  p.b = b;
  p.dtype = o.dtype;
  p.count = o.batches.count;
  return p;
}

/// (s, s) = a b^T into scratch, f32.
void scores(const Operands& o, const LaneContext& lane, Matrix a, Matrix b, float* to) {
  Product p = product_of(o, o.e.s, o.e.s, o.e.head_size(), a, b);
  p.c = to;
  p.stride_c = o.e.s;
  p.next_c = o.e.pairs();
  lane.blas->multiply(p);
}

/// (s, head) = a b into rows of an activation.
void rows_of(const Operands& o, const LaneContext& lane, Matrix a, Matrix b, Matrix to) {
  Product p = product_of(o, o.e.s, o.e.head_size(), o.e.s, a, b);
  p.c = const_cast<void*>(to.data);  // NOLINT: an output described as the inputs are
  p.stride_c = to.stride;
  p.next_c = to.next;
  p.dtype_c = o.dtype;
  lane.blas->multiply(p);
}

template <class T>
void attention_of(const Kernel& k, const LaneContext& lane) {
  const Extents e(k);
  const Operands o(e, k.dtype);
  const Count batch = o.batches.count * e.pairs();
  const bool keeps = k.out[1] != nullptr;
  const bool narrow = sizeof(T) < sizeof(float);
  const Scratch of_scores(lane, batch * 4);
  const Scratch of_probabilities(lane, keeps || !narrow ? 0 : batch * 2);
  // Probabilities that nobody keeps: in the place of the scores where they have their type, else beside them.
  void* const unkept = narrow ? of_probabilities.as<void>() : of_scores.as<void>();
  for (Count call = 0; call < o.batches.calls; ++call) {
    scores(o, lane, o.of_qkv(k.in[0], 0, call, false), o.of_qkv(k.in[0], 1, call, true), of_scores.as<float>());
    const Matrix p = keeps ? o.of_pairs(k.out[1], call, false) : o.of_scratch(unkept, false);
    const Count rows = o.batches.count * e.s;
    enqueue(lane, grid_of_rows(rows, e.s), causal_softmax_kernel<T>,
            static_cast<T*>(const_cast<void*>(p.data)),  // NOLINT: as above
            Placed{p.next, e.s}, of_scores.as<float>(), rows, e.scale());
    rows_of(o, lane, p, o.of_qkv(k.in[0], 2, call, false), o.of_y(k.out[0], call));
  }
}

template <class T>
void attention_backward_of(const Kernel& k, const LaneContext& lane) {
  const Extents e(k);
  const Operands o(e, k.dtype);
  const Count batch = o.batches.count * e.pairs();
  const Scratch of_grads(lane, batch * 4);
  const Scratch of_scores(lane, sizeof(T) < sizeof(float) ? batch * 2 : 0);
  T* const grads = sizeof(T) < sizeof(float) ? of_scores.as<T>() : of_grads.as<T>();
  for (Count call = 0; call < o.batches.calls; ++call) {
    const Matrix grad_y = o.of_y(k.in[2], call);
    const auto grad_of = [&](Count part) { return o.of_qkv(k.out[0], part, call, false); };
    rows_of(o, lane, o.of_pairs(k.in[1], call, true), grad_y, grad_of(2));
    scores(o, lane, grad_y, o.of_qkv(k.in[0], 2, call, true), of_grads.as<float>());
    const Count rows = o.batches.count * e.s;
    enqueue(lane, grid_of_rows(rows, e.s), causal_softmax_backward_kernel<T>, grads, of_grads.as<float>(),
            static_cast<const T*>(o.of_pairs(k.in[1], call, false).data), Placed{o.pairs_next(), e.s}, rows, e.scale());
    rows_of(o, lane, o.of_scratch(grads, false), o.of_qkv(k.in[0], 1, call, false), grad_of(0));
    rows_of(o, lane, o.of_scratch(grads, true), o.of_qkv(k.in[0], 0, call, false), grad_of(1));
  }
}

bool is_empty(const Kernel& k) {
  return k.n[0] == 0 || k.n[1] == 0 || k.n[3] == 0;
}

void attention(const Kernel& k, const LaneContext& lane) {
  if (is_empty(k)) return;
  by_float(k.dtype, [&](auto type) { attention_of<decltype(type)>(k, lane); });
}

void attention_backward(const Kernel& k, const LaneContext& lane) {
  if (is_empty(k)) return;
  by_float(k.dtype, [&](auto type) { attention_backward_of<decltype(type)>(k, lane); });
}

}  // namespace

void add_attention_kernels(KernelTable& table) {
  table[KernelId::attention] = attention;
  table[KernelId::attention_backward] = attention_backward;
}

}  // namespace shardlings::back::cuda
