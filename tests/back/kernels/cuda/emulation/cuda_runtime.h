/// \file
/// The language of kernels, for a processor. The threads of a block are fibers of one thread: see blocks.h.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cmath>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local

namespace shardlings::emulation {

void sync_threads();
/// What every thread of the block, or of the warp, has said.
bool any_of_block(bool value);
unsigned ballot(bool value);
/// The value of the thread of the same warp whose number differs by these bits.
std::uint64_t exchange(std::uint64_t value, unsigned bits);

}  // namespace shardlings::emulation

// NOLINTBEGIN: these are CUDA's names
/// Where the thread that runs now stands; its block; its grid.
extern constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  shardlings::emulation::sync_threads();
}
inline int __syncthreads_or(int value) {
  return shardlings::emulation::any_of_block(value != 0) ? 1 : 0;
}
inline unsigned __ballot_sync(unsigned, bool value) {
  return shardlings::emulation::ballot(value);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned bits) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = shardlings::emulation::exchange(word, bits);
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline int __ffs(int word) {
  return __builtin_ffs(word);
}
inline int __popc(unsigned word) {
  return std::popcount(word);
}
inline float __uint_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t __float_as_uint(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
// NOLINTEND
