/// \file
/// Elements in memory and in registers, several at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "back/kernels/by_type.h"
#include "back/kernels/cuda/launch.h"

namespace shardlings::back::cuda {

__device__ inline float load(float x) {
  return x;
}
__device__ inline float load(Bf16 x) {
  return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16U);
}
__device__ inline std::uint32_t load(std::uint32_t x) {
  return x;
}
__device__ inline std::int32_t load(std::int32_t x) {
  return x;
}
__device__ inline std::uint8_t load(std::uint8_t x) {
  return x;
}

__device__ inline void store(float& y, float x) {
  y = x;
}
/// Rounds to nearest, ties to even; a NaN stays one. The same bits as on the CPU.
__device__ inline void store(Bf16& y, float x) {
  const std::uint32_t bits = __float_as_uint(x);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t quiet = (bits >> 16U) | 0x40U;
  y.bits = static_cast<std::uint16_t>(x != x ? quiet : rounded);
}
__device__ inline void store(std::uint32_t& y, std::uint32_t x) {
  y = x;
}
__device__ inline void store(std::int32_t& y, std::int32_t x) {
  y = x;
}
__device__ inline void store(std::uint8_t& y, std::uint8_t x) {
  y = x;
}

/// So many elements that one instruction moves.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

/// The most elements of these types that one instruction moves: 16 bytes of the largest.
template <class... T>
inline constexpr int kPack = static_cast<int>(16 / std::max({sizeof(T)...}));

template <int N, class T>
bool aligned(const T* address) {
  return reinterpret_cast<std::uintptr_t>(address) % (sizeof(T) * N) == 0;
}

}  // namespace shardlings::back::cuda
