#include "back/kernels/cpu/convert.h"

namespace shardlings::back::cpu {

SHARDLINGS_KERNEL void widen(float* y, const Bf16* x, Count n) {
#pragma omp simd
  for (Count i = 0; i < n; ++i) y[i] = load(x[i]);
}

SHARDLINGS_KERNEL void narrow(Bf16* y, const float* x, Count n) {
#pragma omp simd
  for (Count i = 0; i < n; ++i) store(y[i], x[i]);
}

const float* as_floats(const void* x, DType dtype, Count n, float*& room) {
  if (dtype == DType::f32) return static_cast<const float*>(x);
  float* y = room;
  room += n;
  widen(y, static_cast<const Bf16*>(x), n);
  return y;
}

}  // namespace shardlings::back::cpu
