// Rows of a table by id, positions, and the gradients of both.
#include <algorithm>

#include "back/kernels/cpu/convert.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

/// Which row of the table an id means, or -1 if the table (rows [n[2], n[3]) of the whole) does not hold it.
inline Count row_of(const Kernel& k, std::int32_t id) {
  return id >= 0 && id >= k.n[2] && id < k.n[3] ? id - k.n[2] : -1;
}

SHARDLINGS_KERNEL void embedding(const Kernel& k, Workspace&) {
  const auto* ids = in<std::int32_t>(k, 0);
  const Count h = k.n[1];
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count i = 0; i < k.n[0]; ++i) {
      const Count row = row_of(k, ids[i]);
      T* y = out<T>(k, 0) + i * h;
      if (row < 0) {
        std::fill_n(y, h, T{});
      } else {
        std::copy_n(in<T>(k, 1) + row * h, h, y);
      }
    }
  });
}

/// y[ids[i] - begin] += grad[i]
template <class T>
void scatter_add(const Kernel& k, float* y) {
  const auto* ids = in<std::int32_t>(k, 0);
  const Count h = k.n[1];
  for (Count i = 0; i < k.n[0]; ++i) {
    const Count row = row_of(k, ids[i]);
    if (row < 0) continue;
    map(y + row * h, y + row * h, in<T>(k, 1) + i * h, h, [](float a, float b) { return a + b; });
  }
}

SHARDLINGS_KERNEL void embedding_backward_add(const Kernel& k, Workspace& workspace) {
  if (k.dtype == DType::f32) return scatter_add<float>(k, out<float>(k, 0));
  if (static_cast<DType>(k.n[4]) == DType::f32) return scatter_add<Bf16>(k, out<float>(k, 0));
  const Count size = (k.n[3] - k.n[2]) * k.n[1];
  float* table = workspace.floats(static_cast<std::size_t>(size));
  widen(table, out<Bf16>(k, 0), size);
  scatter_add<Bf16>(k, table);
  narrow(out<Bf16>(k, 0), table, size);
}

SHARDLINGS_KERNEL void add_positions(const Kernel& k, Workspace&) {
  const Count b = k.n[1];
  const Count h = k.n[2];
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count row = 0; row < k.n[0] * b; ++row) {
      T* y = out<T>(k, 0) + row * h;
      map(y, y, in<T>(k, 0) + row / b * h, h, [](float a, float p) { return a + p; });
    }
  });
}

SHARDLINGS_KERNEL void sum_positions_add(const Kernel& k, Workspace& workspace) {
  const Count b = k.n[1];
  const Count h = k.n[2];
  float* total = workspace.floats(static_cast<std::size_t>(h));
  const auto plus = [](float a, float g) { return a + g; };
  by_floats(k.dtype, k.n[3], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    for (Count position = 0; position < k.n[0]; ++position) {
      std::fill_n(total, h, 0.0F);
      for (Count i = 0; i < b; ++i) map(total, total, in<T>(k, 0) + (position * b + i) * h, h, plus);
      A* y = out<A>(k, 0) + position * h;
      map(y, y, total, h, plus);
    }
  });
}

}  // namespace

void add_embedding_kernels(KernelTable& table) {
  table[KernelId::embedding] = embedding;
  table[KernelId::embedding_backward_add] = embedding_backward_add;
  table[KernelId::add_positions] = add_positions;
  table[KernelId::sum_positions_add] = sum_positions_add;
}

}  // namespace shardlings::back::cpu
