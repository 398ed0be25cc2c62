/// \file
/// What all CPU kernels share: their signature, access to operands of any type, and loops that vectorise.
///
/// Kernels are plain loops, compiled for several instruction sets at once (SHARDLINGS_KERNEL); the processor's best is
/// chosen when the library is loaded. Products and sums are never fused (-ffp-contract=off), so that an element's value
/// does not depend on where in a loop, a shard or a vector it stands.
#pragma once

#include <bit>
#include <cstdint>

#include "back/kernels/by_type.h"
#include "back/kernels/cpu/workspace.h"
#include "back/kernels/kernel_ids.h"
#include "base/bf16.h"
#include "base/float8.h"

/// Compiled for AVX-512, AVX2 and the baseline; everything called is inlined, or it would be the baseline's code.
#if defined(SHARDLINGS_MULTIVERSION) && !defined(__clang__)  // clang-tidy reads this, too
#define SHARDLINGS_KERNEL __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define SHARDLINGS_KERNEL
#endif

namespace shardlings::back::cpu {

using KernelFunction = void (*)(const Kernel&, Workspace&);

inline float load(float x) {
  return x;
}
inline float load(Bf16 x) {
  return float_of_bf16(x.bits);
}
inline float load(E4m3 x) {
  return float_of_e4m3(x.bits);
}

inline void store(float& y, float x) {
  y = x;
}
inline void store(Bf16& y, float x) {
  y.bits = bf16_of_float(x);
}
inline void store(E4m3& y, float x) {
  y.bits = e4m3_of_float(x);
}

template <class T>
T* out(const Kernel& k, int i) {
  return static_cast<T*>(k.out[i]);
}
template <class T>
const T* in(const Kernel& k, int i) {
  return static_cast<const T*>(k.in[i]);
}

/// y[i] = f(x[i])
template <class Y, class X, class F>
void map(Y* y, const X* x, Count n, F f) {
#pragma omp simd
  for (Count i = 0; i < n; ++i) store(y[i], f(load(x[i])));
}

/// y[i] = f(a[i], b[i])
template <class Y, class A, class B, class F>
void map(Y* y, const A* a, const B* b, Count n, F f) {
#pragma omp simd
  for (Count i = 0; i < n; ++i) store(y[i], f(load(a[i]), load(b[i])));
}

/// Sum of f(i) in an order that depends on n only.
template <class F>
float sum(Count n, F f) {
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (Count i = 0; i < n; ++i) total += f(i);
  return total;
}

/// Largest element; -infinity for none, NaN if there is one.
template <class T>
float max_of(const T* x, Count n) {
  constexpr int kLanes = 16;
  float top[kLanes];
  for (float& t : top) t = -__builtin_inff();
  const auto take = [](float t, float v) { return v > t || v != v ? v : t; };
  Count i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int j = 0; j < kLanes; ++j) top[j] = take(top[j], load(x[i + j]));
  }
  for (int j = 0; i < n; ++i, ++j) top[j] = take(top[j], load(x[i]));
  for (int half = kLanes / 2; half > 0; half /= 2) {
#pragma omp simd
    for (int j = 0; j < half; ++j) top[j] = take(top[j], top[j + half]);
  }
  return top[0];
}

}  // namespace shardlings::back::cpu
