/// \file
/// What the threads of a block do together: loops over a row, and sums in an order that depends on extents only.
#pragma once

#include "back/kernels/cuda/element.h"

namespace shardlings::back::cuda {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
/// NaN if there is one.
struct Largest {
  __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

/// Combines every thread's value; all threads get the result. Every thread of the block must call it. Threads: a
/// multiple of a warp.
template <class T, class F>
__device__ T combine_block(T value, T identity, F f) {
  __shared__ T of_warp[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warps = blockDim.x / kWarp;
  // A butterfly: in every step both sides combine the same two values, so that all lanes end with the same bits.
  for (unsigned half = kWarp / 2; half > 0; half /= 2) value = f(value, __shfl_xor_sync(0xFFFFFFFFU, value, half));
  if (warps == 1) return value;
  __syncthreads();  // what an earlier call left there has been read by all
  if (lane == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = lane < warps ? of_warp[lane] : identity;
  for (unsigned half = kWarp / 2; half > 0; half /= 2) value = f(value, __shfl_xor_sync(0xFFFFFFFFU, value, half));
  return value;
}

__device__ inline float sum_block(float value) {
  return combine_block(value, 0.0F, Plus{});
}
__device__ inline double sum_block(double value) {
  return combine_block(value, 0.0, Plus{});
}
__device__ inline float largest_of_block(float value) {
  return combine_block(value, -INFINITY, Largest{});
}

/// How the columns of a row are dealt out to the threads of a block: N neighbours at a time, whose order of additions
/// does not depend on where the row begins. With whole, one instruction moves them.
template <int N, bool whole>
struct Columns {
  static constexpr int kWidth = N;
  static constexpr bool kWhole = whole;
};
using Single = Columns<1, false>;

/// Calls f(i, x[i]…) for this thread's columns.
template <class C, class F, class... X>
__device__ void each_column(Count cols, F f, const X*... x) {
  for (Count i = threadIdx.x * static_cast<Count>(C::kWidth); i < cols;
       i += blockDim.x * static_cast<Count>(C::kWidth)) {
    if constexpr (C::kWhole) {
      const auto elements = [&](const auto&... pack) {
        for (int j = 0; j < C::kWidth; ++j) f(i + j, load(pack.v[j])...);
      };
      elements(Pack<X, C::kWidth>(*reinterpret_cast<const Pack<X, C::kWidth>*>(x + i))...);
    } else {
      for (Count j = i; j < i + C::kWidth && j < cols; ++j) f(j, load(x[j])...);
    }
  }
}

/// y[i] = f(i, x[i]…) for this thread's columns. y may be one of the inputs.
template <class C, class F, class Y, class... X>
__device__ void map_columns(Count cols, F f, Y* y, const X*... x) {
  for (Count i = threadIdx.x * static_cast<Count>(C::kWidth); i < cols;
       i += blockDim.x * static_cast<Count>(C::kWidth)) {
    if constexpr (C::kWhole) {
      const auto elements = [&](const auto&... pack) {
        Pack<Y, C::kWidth> result;
        for (int j = 0; j < C::kWidth; ++j) store(result.v[j], f(i + j, load(pack.v[j])...));
        *reinterpret_cast<Pack<Y, C::kWidth>*>(y + i) = result;
      };
      elements(Pack<X, C::kWidth>(*reinterpret_cast<const Pack<X, C::kWidth>*>(x + i))...);
    } else {
      for (Count j = i; j < i + C::kWidth && j < cols; ++j) store(y[j], f(j, load(x[j])...));
    }
  }
}

/// Calls f(Columns) for rows of so many columns at these addresses.
template <class F, class... T>
void by_pack(Count cols, F f, const T*... rows) {
  constexpr int kN = kPack<T...>;
  if (cols % kN == 0 && (aligned<kN>(rows) && ...)) {
    f(Columns<kN, true>{});
  } else {
    f(Columns<kN, false>{});
  }
}

}  // namespace shardlings::back::cuda
