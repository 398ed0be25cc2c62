// What decides about an update: norm, clip factor, finite flag.
#include "back/kernels/cuda/table.h"
#include "back/kernels/cuda/totals.h"

namespace shardlings::back::cuda {
namespace {

template <class T>
struct Square {
  const T* x;
  __device__ double operator()(Count i) const {
    const auto value = static_cast<double>(load(x[i]));
    return value * value;
  }
};

void add_squares(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    add_total(lane, k.n[0], Square<T>{in<T>(k, 0)}, out<float>(k, 0));
  });
}

__global__ void clip_factor_kernel(float* y, const float* squares, float limit) {
  const float norm = sqrtf(*squares);
  *y = norm <= limit ? 1.0F : limit / norm;
}

void clip_factor(const Kernel& k, const LaneContext& lane) {
  enqueue(lane, Grid{1, 1, 1}, clip_factor_kernel, out<float>(k, 0), in<float>(k, 0), k.f[0]);
}

/// All threads that find one write the same 1.
template <class T>
__global__ void flag_nonfinite_kernel(float* y, const T* x, Count n) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  bool found = false;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const float value = load(x[i]);
    found = found || value - value != 0.0F;  // infinity - infinity is NaN, as is NaN - NaN
  }
  if (found) *y = 1.0F;
}

void flag_nonfinite(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_of_total(k.n[0]), flag_nonfinite_kernel<T>, out<float>(k, 0), in<T>(k, 0), k.n[0]);
  });
}

}  // namespace

void add_total_kernels(KernelTable& table) {
  table[KernelId::add_squares] = add_squares;
  table[KernelId::clip_factor] = clip_factor;
  table[KernelId::flag_nonfinite] = flag_nonfinite;
}

}  // namespace shardlings::back::cuda
