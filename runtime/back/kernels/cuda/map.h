/// \file
/// y[i] = f(x[i], …): one pass over memory, 16 bytes at a time where the addresses allow it.
#pragma once

#include "back/kernels/cuda/element.h"

namespace shardlings::back::cuda {

template <int N, class F, class Y, class... X>
__device__ void map_pack(F f, Pack<Y, N>& y, const Pack<X, N>&... x) {
  Pack<Y, N> result;
  for (int j = 0; j < N; ++j) store(result.v[j], f(load(x.v[j])...));
  y = result;
}

template <int N, class F, class Y, class... X>
__global__ void map_kernel(Count n, F f, Y* y, const X*... x) {
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  const Count packs = n / N;
  for (Count i = first; i < packs; i += step) {
    map_pack<N>(f, reinterpret_cast<Pack<Y, N>*>(y)[i], reinterpret_cast<const Pack<X, N>*>(x)[i]...);
  }
  for (Count i = packs * N + first; i < n; i += step) store(y[i], f(load(x[i])...));
}

/// f: a small struct with a __device__ operator(). y may be one of the inputs.
template <class F, class Y, class... X>
void map(const LaneContext& lane, Count n, F f, Y* y, const X*... x) {
  if (n == 0) return;
  constexpr int kN = kPack<Y, X...>;
  if (aligned<kN>(y) && (aligned<kN>(x) && ...)) {
    enqueue(lane, grid_for(ceil_div(n, kN)), map_kernel<kN, F, Y, X...>, n, f, y, x...);
  } else {
    enqueue(lane, grid_for(n), map_kernel<1, F, Y, X...>, n, f, y, x...);
  }
}

}  // namespace shardlings::back::cuda
