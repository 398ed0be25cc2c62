// y[i] from y[i] and x[i].
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

SHARDLINGS_KERNEL void add(const Kernel& k, Workspace&) {
  const Count n = k.n[0];
  if (k.dtype == DType::i32) {
    auto* y = out<std::uint32_t>(k, 0);  // unsigned: sums wrap around
    const auto* x = in<std::uint32_t>(k, 0);
#pragma omp simd
    for (Count i = 0; i < n; ++i) y[i] += x[i];
    return;
  }
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    T* y = out<T>(k, 0);
    map(y, y, in<T>(k, 0), n, [](float a, float b) { return a + b; });
  });
}

SHARDLINGS_KERNEL void axpy(const Kernel& k, Workspace&) {
  const float alpha = k.f[0];
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    T* y = out<T>(k, 0);
    map(y, y, in<T>(k, 0), k.n[0], [alpha](float a, float b) { return a + alpha * b; });
  });
}

inline void multiply(const Kernel& k, float factor) {
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    map(y, y, k.n[0], [factor](float a) { return a * factor; });
  });
}

SHARDLINGS_KERNEL void scale(const Kernel& k, Workspace&) {
  multiply(k, k.f[0]);
}

SHARDLINGS_KERNEL void scale_by(const Kernel& k, Workspace&) {
  multiply(k, *in<float>(k, 0));
}

}  // namespace

void add_elementwise_kernels(KernelTable& table) {
  table[KernelId::add] = add;
  table[KernelId::axpy] = axpy;
  table[KernelId::scale] = scale;
  table[KernelId::scale_by] = scale_by;
}

}  // namespace shardlings::back::cpu
