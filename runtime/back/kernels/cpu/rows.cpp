// One value for each row, the largest of a row, and softmax.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "back/kernels/cpu/exp.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

SHARDLINGS_KERNEL void row_max(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) store(out<T>(k, 0)[r], max_of(in<T>(k, 0) + r * cols, cols));
  });
}

SHARDLINGS_KERNEL void row_sum(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) {
      const T* x = in<T>(k, 0) + r * cols;
      store(out<T>(k, 0)[r], sum(cols, [x](Count i) { return load(x[i]); }));
    }
  });
}

SHARDLINGS_KERNEL void exp_minus_row(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) {
      T* y = out<T>(k, 0) + r * cols;
      const float row = load(in<T>(k, 0)[r]);
      map(y, y, cols, [row](float x) { return fast_exp(x - row); });
    }
  });
}

SHARDLINGS_KERNEL void divide_rows(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) {
      T* y = out<T>(k, 0) + r * cols;
      const float row = load(in<T>(k, 0)[r]);
      map(y, y, cols, [row](float x) { return x / row; });
    }
  });
}

SHARDLINGS_KERNEL void scale_rows(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) {
      T* y = out<T>(k, 0) + r * cols;
      const float row = load(in<T>(k, 0)[r]);
      map(y, y, cols, [row](float x) { return x * row; });
    }
  });
}

/// Where in a row an id's element is, or -1.
inline Count column_of(const Kernel& k, std::int32_t id) {
  const Count begin = k.n[2];
  const Count end = k.n[3];
  return id >= begin && id < end && id >= 0 ? id - begin : -1;
}

void pick(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const auto* ids = in<std::int32_t>(k, 1);
    for (Count r = 0; r < k.n[0]; ++r) {
      const Count column = column_of(k, ids[r]);
      store(out<T>(k, 0)[r], column < 0 ? 0.0F : load(in<T>(k, 0)[r * k.n[1] + column]));
    }
  });
}

void add_at(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const auto* ids = in<std::int32_t>(k, 0);
    for (Count r = 0; r < k.n[0]; ++r) {
      const Count column = column_of(k, ids[r]);
      if (column < 0) continue;
      T& y = out<T>(k, 0)[r * k.n[1] + column];
      store(y, load(y) + k.f[0]);
    }
  });
}

/// Bits that are in the order of absolute values, with every NaN above all of them.
inline std::uint32_t magnitude(float x) {
  constexpr std::uint32_t kAllButSign = 0x7FFFFFFFU;
  return x != x ? kAllButSign : std::bit_cast<std::uint32_t>(x) & kAllButSign;
}

void top_k(const Kernel& k, Workspace&) {
  const Count cols = k.n[1];
  const Count most = k.n[2];
  std::vector<std::uint32_t> sizes(static_cast<std::size_t>(cols));
  std::vector<std::int32_t> order(static_cast<std::size_t>(cols));
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count r = 0; r < k.n[0]; ++r) {
      const T* x = in<T>(k, 0) + r * cols;
      for (Count i = 0; i < cols; ++i) sizes[static_cast<std::size_t>(i)] = magnitude(load(x[i]));
      std::iota(order.begin(), order.end(), 0);
      std::nth_element(order.begin(), order.begin() + most - 1, order.end(), [&](std::int32_t a, std::int32_t b) {
        const std::uint32_t of_a = sizes[static_cast<std::size_t>(a)], of_b = sizes[static_cast<std::size_t>(b)];
        return of_a != of_b ? of_a > of_b : a < b;
      });
      std::sort(order.begin(), order.begin() + most);
      std::transform(order.begin(), order.begin() + most, out<std::int32_t>(k, 0) + r * most,
                     [&](std::int32_t column) { return static_cast<std::int32_t>(r * cols) + column; });
    }
  });
}

SHARDLINGS_KERNEL void softmax(const Kernel& k, Workspace& workspace) {
  const Count cols = k.n[1];
  float* e = workspace.floats(static_cast<std::size_t>(cols));
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count r = 0; r < k.n[0]; ++r) {
      const T* x = in<T>(k, 0) + r * cols;
      const float top = max_of(x, cols);
      map(e, x, cols, [top](float v) { return fast_exp(v - top); });
      const float factor = 1.0F / sum(cols, [e](Count i) { return e[i]; });
      map(out<T>(k, 0) + r * cols, e, cols, [factor](float v) { return v * factor; });
    }
  });
}

SHARDLINGS_KERNEL void softmax_backward(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const Count cols = k.n[1];
    for (Count r = 0; r < k.n[0]; ++r) {
      const T* y = in<T>(k, 0) + r * cols;
      const T* grad = in<T>(k, 1) + r * cols;
      const float dot = sum(cols, [y, grad](Count i) { return load(y[i]) * load(grad[i]); });
      map(out<T>(k, 0) + r * cols, y, grad, cols, [dot](float v, float g) { return v * (g - dot); });
    }
  });
}

}  // namespace

void add_row_kernels(KernelTable& table) {
  table[KernelId::row_max] = row_max;
  table[KernelId::row_sum] = row_sum;
  table[KernelId::exp_minus_row] = exp_minus_row;
  table[KernelId::divide_rows] = divide_rows;
  table[KernelId::scale_rows] = scale_rows;
  table[KernelId::pick] = pick;
  table[KernelId::add_at] = add_at;
  table[KernelId::top_k] = top_k;
  table[KernelId::softmax] = softmax;
  table[KernelId::softmax_backward] = softmax_backward;
}

}  // namespace shardlings::back::cpu
