// Moving, filling and converting.
#include <cstring>

#include "back/kernels/cpu/table.h"
#include "base/dtype.h"
#include "base/float8.h"

namespace shardlings::back::cpu {
namespace {

void copy(const Kernel& k, Workspace&) {
  if (k.n[0] > 0) std::memmove(k.out[0], k.in[0], static_cast<std::size_t>(k.n[0]));
}

void copy_rows(const Kernel& k, Workspace&) {
  const Count rows = k.n[0];
  const auto size = static_cast<std::size_t>(k.n[1]);
  if (size == 0) return;
  char* y = out<char>(k, 0);
  const char* x = in<char>(k, 0);
  for (Count r = 0; r < rows; ++r) std::memcpy(y + r * k.n[2], x + r * k.n[3], size);
}

SHARDLINGS_KERNEL void fill(const Kernel& k, Workspace&) {
  const Count n = k.n[0];
  if (is_one_byte(k.dtype)) {
    const int code = k.dtype == DType::e4m3 ? e4m3_of_float(k.f[0]) : e8m0_of_float(k.f[0]);
    if (n > 0) std::memset(k.out[0], code, static_cast<std::size_t>(n));
    return;
  }
  if (k.dtype == DType::i32) {
    auto* y = out<std::int32_t>(k, 0);
    const auto value = static_cast<std::int32_t>(k.f[0]);
    for (Count i = 0; i < n; ++i) y[i] = value;
    return;
  }
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    T* y = out<T>(k, 0);
    T value;
    store(value, k.f[0]);
    for (Count i = 0; i < n; ++i) y[i] = value;
  });
}

/// Towards zero; what does not fit becomes the nearest that does, NaN becomes 0.
inline std::int32_t to_int(float x) {
  constexpr float kLimit = 2147483648.0F;
  if (x >= kLimit) return INT32_MAX;
  if (x <= -kLimit) return INT32_MIN;
  return x == x ? static_cast<std::int32_t>(x) : 0;
}

SHARDLINGS_KERNEL void cast(const Kernel& k, Workspace& workspace) {
  const Count n = k.n[0];
  const auto to = static_cast<DType>(k.n[1]);
  if (to == k.dtype) {
    Kernel same = k;
    same.n[0] = n * size_of(to);
    return copy(same, workspace);
  }
  if (k.dtype == DType::i32) {
    const auto* x = in<std::int32_t>(k, 0);
    return by_float(to, [&](auto type) {
      auto* y = out<decltype(type)>(k, 0);
      for (Count i = 0; i < n; ++i) store(y[i], static_cast<float>(x[i]));
    });
  }
  if (to == DType::i32) {
    auto* y = out<std::int32_t>(k, 0);
    return by_float(k.dtype, [&](auto type) {
      const auto* x = in<decltype(type)>(k, 0);
      for (Count i = 0; i < n; ++i) y[i] = to_int(load(x[i]));
    });
  }
  if (to == DType::bf16) {
    auto* y = out<Bf16>(k, 0);
    const auto* x = in<float>(k, 0);
    for (Count i = 0; i < n; ++i) store(y[i], x[i]);
  } else {
    auto* y = out<float>(k, 0);
    const auto* x = in<Bf16>(k, 0);
    for (Count i = 0; i < n; ++i) store(y[i], load(x[i]));
  }
}

}  // namespace

void add_copy_kernels(KernelTable& table) {
  table[KernelId::copy] = copy;
  table[KernelId::copy_rows] = copy_rows;
  table[KernelId::fill] = fill;
  table[KernelId::cast] = cast;
}

}  // namespace shardlings::back::cpu
