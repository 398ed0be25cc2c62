// Ordered reduction over the inputs of several ranks: the order of the additions of one element is that of the inputs,
// so the result has the same bits as on the CPU.
#include "back/kernels/cuda/element.h"
#include "back/kernels/cuda/table.h"
#include "shardlings/group.h"

namespace shardlings::back::cuda {
namespace {

struct Reduction {
  const void* in[Kernel::kInputs];
  int inputs;
  ReduceOp op;
  float divisor;  ///< 1 unless a mean is completed here
};

__device__ inline float combine(ReduceOp op, float a, float b) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean: break;
    case ReduceOp::max: return b > a || b != b ? b : a;
    case ReduceOp::min: return b < a || b != b ? b : a;
  }
  return a + b;
}

/// Elements [i N, (i + 1) N). First: type of in[0]; X: of the others; Y: of the result.
template <int N, class First, class X, class Y>
__device__ void reduce_pack(const Reduction& r, Y* y, Count i) {
  const Pack<First, N> first = static_cast<const Pack<First, N>*>(r.in[0])[i];
  float partial[N];
  for (int j = 0; j < N; ++j) partial[j] = load(first.v[j]);
  for (int input = 1; input < r.inputs; ++input) {
    const Pack<X, N> x = static_cast<const Pack<X, N>*>(r.in[input])[i];
    for (int j = 0; j < N; ++j) partial[j] = combine(r.op, partial[j], load(x.v[j]));
  }
  Pack<Y, N> result;
  for (int j = 0; j < N; ++j) store(result.v[j], partial[j] / r.divisor);
  reinterpret_cast<Pack<Y, N>*>(y)[i] = result;
}

template <int N, class First, class X, class Y>
__global__ void reduce_kernel(Reduction r, Y* y, Count n) {
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  const Count packs = n / N;
  for (Count i = first; i < packs; i += step) reduce_pack<N, First, X>(r, y, i);
  for (Count i = packs * N + first; i < n; i += step) reduce_pack<1, First, X>(r, y, i);
}

/// Integers: sums wrap around, a mean is rounded towards zero.
__global__ void reduce_integers_kernel(Reduction r, std::int32_t* y, Count n, Count divisor) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    std::int32_t value = static_cast<const std::int32_t*>(r.in[0])[i];
    for (int input = 1; input < r.inputs; ++input) {
      const std::int32_t x = static_cast<const std::int32_t*>(r.in[input])[i];
      if (r.op == ReduceOp::max) {
        value = x > value ? x : value;
      } else if (r.op == ReduceOp::min) {
        value = x < value ? x : value;
      } else {
        value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(x));
      }
    }
    y[i] = static_cast<std::int32_t>(value / divisor);
  }
}

/// The largest of scales (e8m0): their codes rise with them, and NaN has the largest one.
__global__ void reduce_scales_kernel(Reduction r, std::uint8_t* y, Count n) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint8_t value = static_cast<const std::uint8_t*>(r.in[0])[i];
    for (int input = 1; input < r.inputs; ++input) {
      const std::uint8_t x = static_cast<const std::uint8_t*>(r.in[input])[i];
      value = x > value ? x : value;
    }
    y[i] = value;
  }
}

template <class First, class X, class Y>
void reduce_floats(const Reduction& r, Y* y, Count n, const LaneContext& lane) {
  constexpr int kN = kPack<First, X, Y>;
  bool packs = aligned<kN>(y) && aligned<kN>(static_cast<const First*>(r.in[0]));
  for (int i = 1; i < r.inputs; ++i) packs = packs && aligned<kN>(static_cast<const X*>(r.in[i]));
  if (packs) {
    enqueue(lane, grid_for(ceil_div(n, kN)), reduce_kernel<kN, First, X, Y>, r, y, n);
  } else {
    enqueue(lane, grid_for(n), reduce_kernel<1, First, X, Y>, r, y, n);
  }
}

void reduce(const Kernel& k, const LaneContext& lane) {
  const Count n = k.n[0];
  if (n == 0) return;
  const bool from_partial = k.n[4] != 0;
  const bool to_partial = k.n[5] != 0;
  Reduction r{};
  r.inputs = static_cast<int>(k.n[1]);
  std::copy_n(k.in, r.inputs, r.in);
  r.op = static_cast<ReduceOp>(k.n[2]);
  const Count divisor = r.op == ReduceOp::mean && !to_partial ? k.n[3] : 1;
  r.divisor = static_cast<float>(divisor);
  if (k.dtype == DType::i32) {
    return enqueue(lane, grid_for(n), reduce_integers_kernel, r, out<std::int32_t>(k, 0), n, divisor);
  }
  if (k.dtype == DType::e8m0) return enqueue(lane, grid_for(n), reduce_scales_kernel, r, out<std::uint8_t>(k, 0), n);
  if (k.dtype == DType::f32) return reduce_floats<float, float>(r, out<float>(k, 0), n, lane);
  if (from_partial && to_partial) return reduce_floats<float, Bf16>(r, out<float>(k, 0), n, lane);
  if (from_partial) return reduce_floats<float, Bf16>(r, out<Bf16>(k, 0), n, lane);
  if (to_partial) return reduce_floats<Bf16, Bf16>(r, out<float>(k, 0), n, lane);
  reduce_floats<Bf16, Bf16>(r, out<Bf16>(k, 0), n, lane);
}

}  // namespace

void add_reduce_kernels(KernelTable& table) {
  table[KernelId::reduce] = reduce;
}

}  // namespace shardlings::back::cuda
