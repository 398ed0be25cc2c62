// Numbers in 8 bits with a scale for each block of them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "back/kernels/cpu/table.h"
#include "base/float8.h"
#include "shardlings/ops.h"

namespace shardlings::back::cpu {
namespace {

/// Calls f(block, begin, end) for the stretch of elements [begin, end) of each block, of n elements from `first` on.
template <class F>
void each_block(Count n, Count first, F f) {
  for (Count begin = 0; begin < n;) {
    const Count block = (first + begin) / kScalingBlock;
    const Count end = std::min(n, (block + 1) * kScalingBlock - first);
    f(block, begin, end);
    begin = end;
  }
}

SHARDLINGS_KERNEL void block_scales(const Kernel& k, Workspace&) {
  auto* scales = out<std::uint8_t>(k, 0);
  if (k.n[2] > 0) std::memset(scales, 0, static_cast<std::size_t>(k.n[2]));  // the least scale
  by_float(k.dtype, [&](auto type) {
    const auto* x = in<decltype(type)>(k, 0);
    each_block(k.n[0], k.n[1], [&](Count block, Count begin, Count end) {
      // Magnitudes of floats are ordered as their bits are, and NaN is above all.
      std::uint32_t top = 0;
      for (Count i = begin; i < end; ++i) top = std::max(top, std::bit_cast<std::uint32_t>(load(x[i])) & 0x7FFFFFFFU);
      scales[block] = scale_for_magnitude(top);
    });
  });
}

/// y[i] = x[i] times a factor of its block, which `factor_of` makes of its scale.
template <class Y, class X, class F>
void scale_blocks(const Kernel& k, F factor_of) {
  Y* y = out<Y>(k, 0);
  const X* x = in<X>(k, 0);
  const auto* scales = in<std::uint8_t>(k, 1);
  each_block(k.n[0], k.n[1], [&](Count block, Count begin, Count end) {
    const float factor = factor_of(scales[block]);
    for (Count i = begin; i < end; ++i) store(y[i], load(x[i]) * factor);
  });
}

SHARDLINGS_KERNEL void quantize(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) { scale_blocks<E4m3, decltype(type)>(k, reciprocal_of_e8m0); });
}

SHARDLINGS_KERNEL void dequantize(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) { scale_blocks<decltype(type), E4m3>(k, float_of_e8m0); });
}

}  // namespace

void add_scaled_kernels(KernelTable& table) {
  table[KernelId::block_scales] = block_scales;
  table[KernelId::quantize] = quantize;
  table[KernelId::dequantize] = dequantize;
}

}  // namespace shardlings::back::cpu
