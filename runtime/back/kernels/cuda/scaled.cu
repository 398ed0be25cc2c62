// Numbers in 8 bits with a scale for each block of them. A block is as long as a warp.
#include "back/kernels/cuda/element.h"
#include "back/kernels/cuda/table.h"
#include "base/float8.h"
#include "shardlings/ops.h"

namespace shardlings::back::cuda {
namespace {

static_assert(kScalingBlock == kWarp);

/// A warp for each block; the least scale where x has no element of it.
template <class X>
__global__ void block_scales_kernel(std::uint8_t* scales, const X* x, Count n, Count first, Count blocks) {
  const Count warps = static_cast<Count>(gridDim.x) * blockDim.x / kWarp;
  for (Count block = (static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp; block < blocks;
       block += warps) {
    const Count i = block * kScalingBlock + threadIdx.x % kWarp - first;
    // Magnitudes of floats are ordered as their bits are, and NaN is above all.
    std::uint32_t top = i >= 0 && i < n ? __float_as_uint(load(x[i])) & 0x7FFFFFFFU : 0;
    for (unsigned half = kWarp / 2; half > 0; half /= 2) {
      const std::uint32_t other = __shfl_xor_sync(0xFFFFFFFFU, top, half);
      top = other > top ? other : top;
    }
    if (threadIdx.x % kWarp == 0) scales[block] = scale_for_magnitude(top);
  }
}

template <class X>
__global__ void quantize_kernel(std::uint8_t* y, const X* x, const std::uint8_t* scales, Count n, Count first) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    y[i] = e4m3_of_float(load(x[i]) * reciprocal_of_e8m0(scales[(first + i) / kScalingBlock]));
  }
}

template <class Y>
__global__ void dequantize_kernel(Y* y, const std::uint8_t* codes, const std::uint8_t* scales, Count n, Count first) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    store(y[i], float_of_e4m3(codes[i]) * float_of_e8m0(scales[(first + i) / kScalingBlock]));
  }
}

void block_scales(const Kernel& k, const LaneContext& lane) {
  if (k.n[2] == 0) return;
  by_float(k.dtype, [&](auto type) {
    using X = decltype(type);
    enqueue(lane, grid_for(k.n[2] * kWarp), block_scales_kernel<X>, out<std::uint8_t>(k, 0), in<X>(k, 0), k.n[0],
            k.n[1], k.n[2]);
  });
}

void quantize(const Kernel& k, const LaneContext& lane) {
  if (k.n[0] == 0) return;
  by_float(k.dtype, [&](auto type) {
    using X = decltype(type);
    enqueue(lane, grid_for(k.n[0]), quantize_kernel<X>, out<std::uint8_t>(k, 0), in<X>(k, 0), in<std::uint8_t>(k, 1),
            k.n[0], k.n[1]);
  });
}

void dequantize(const Kernel& k, const LaneContext& lane) {
  if (k.n[0] == 0) return;
  by_float(k.dtype, [&](auto type) {
    using Y = decltype(type);
    enqueue(lane, grid_for(k.n[0]), dequantize_kernel<Y>, out<Y>(k, 0), in<std::uint8_t>(k, 0), in<std::uint8_t>(k, 1),
            k.n[0], k.n[1]);
  });
}

}  // namespace

void add_scaled_kernels(KernelTable& table) {
  table[KernelId::block_scales] = block_scales;
  table[KernelId::quantize] = quantize;
  table[KernelId::dequantize] = dequantize;
}

}  // namespace shardlings::back::cuda
