// Biases: the same vector for every row, and its gradient.
#include <algorithm>

#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

SHARDLINGS_KERNEL void add_bias(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    const T* bias = in<T>(k, 0);
    for (Count r = 0; r < k.n[0]; ++r) {
      T* y = out<T>(k, 0) + r * cols;
      map(y, y, bias, cols, [](float a, float b) { return a + b; });
    }
  });
}

/// Summed apart and added at the end, so that what was there loses nothing to the order of the rows.
SHARDLINGS_KERNEL void sum_rows_add(const Kernel& k, Workspace& workspace) {
  const Count cols = k.n[1];
  float* total = workspace.floats(static_cast<std::size_t>(cols));
  std::fill_n(total, cols, 0.0F);
  by_floats(k.dtype, k.n[2], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    for (Count r = 0; r < k.n[0]; ++r) {
      map(total, total, in<T>(k, 0) + r * cols, cols, [](float a, float b) { return a + b; });
    }
    A* y = out<A>(k, 0);
    map(y, y, total, cols, [](float a, float b) { return a + b; });
  });
}

}  // namespace

void add_column_kernels(KernelTable& table) {
  table[KernelId::add_bias] = add_bias;
  table[KernelId::sum_rows_add] = sum_rows_add;
}

}  // namespace shardlings::back::cpu
