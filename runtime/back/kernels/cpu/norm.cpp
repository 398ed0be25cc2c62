// Layer normalisation (Ba et al. 2016).
#include <algorithm>
#include <cmath>

#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

/// One row; mean first, then the squares of the differences: no cancellation.
template <class T>
void normalize(T* y, const T* x, const T* weight, const T* bias, Count cols, float epsilon, float* stats) {
  const auto width = static_cast<float>(cols);
  const float mean = sum(cols, [x](Count i) { return load(x[i]); }) / width;
  const float squares = sum(cols, [x, mean](Count i) { return (load(x[i]) - mean) * (load(x[i]) - mean); });
  const float inverse = 1.0F / std::sqrt(squares / width + epsilon);
#pragma omp simd
  for (Count i = 0; i < cols; ++i) store(y[i], (load(x[i]) - mean) * inverse * load(weight[i]) + load(bias[i]));
  stats[0] = mean;
  stats[1] = inverse;
}

SHARDLINGS_KERNEL void layer_norm(const Kernel& k, Workspace&) {
  const Count rows = k.n[0];
  const Count cols = k.n[1];
  auto* stats = out<float>(k, 1);
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count r = 0; r < rows; ++r) {
      float mean_and_inverse[2];
      normalize(out<T>(k, 0) + r * cols, in<T>(k, 0) + r * cols, in<T>(k, 1), in<T>(k, 2), cols, k.f[0],
                mean_and_inverse);
      if (stats == nullptr) continue;
      stats[r] = mean_and_inverse[0];
      stats[rows + r] = mean_and_inverse[1];
    }
  });
}

/// With n = (x - mean) inverse and g = grad weight: inverse (g - mean(g) - n mean(g n)).
template <class T>
void backward_row(T* y, const T* x, const T* weight, const T* grad, Count cols, float mean, float inverse,
                  float* grad_weight, float* grad_bias) {
  const auto width = static_cast<float>(cols);
  float of_g = 0;
  float of_gn = 0;
#pragma omp simd reduction(+ : of_g, of_gn)
  for (Count i = 0; i < cols; ++i) {
    const float normal = (load(x[i]) - mean) * inverse;
    const float g = load(grad[i]);
    grad_weight[i] += g * normal;
    grad_bias[i] += g;
    of_g += g * load(weight[i]);
    of_gn += g * load(weight[i]) * normal;
  }
  of_g /= width;
  of_gn /= width;
#pragma omp simd
  for (Count i = 0; i < cols; ++i) {
    const float normal = (load(x[i]) - mean) * inverse;
    store(y[i], inverse * (load(grad[i]) * load(weight[i]) - of_g - normal * of_gn));
  }
}

SHARDLINGS_KERNEL void layer_norm_backward(const Kernel& k, Workspace& workspace) {
  const Count rows = k.n[0];
  const Count cols = k.n[1];
  float* grad_weight = workspace.floats(static_cast<std::size_t>(2 * cols));
  float* grad_bias = grad_weight + cols;
  std::fill_n(grad_weight, 2 * cols, 0.0F);
  const auto* stats = in<float>(k, 2);
  by_floats(k.dtype, k.n[2], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    for (Count r = 0; r < rows; ++r) {
      backward_row(out<T>(k, 2) + r * cols, in<T>(k, 0) + r * cols, in<T>(k, 1), in<T>(k, 3) + r * cols, cols, stats[r],
                   stats[rows + r], grad_weight, grad_bias);
    }
    const auto plus = [](float a, float b) { return a + b; };
    map(out<A>(k, 0), out<A>(k, 0), grad_weight, cols, plus);
    map(out<A>(k, 1), out<A>(k, 1), grad_bias, cols, plus);
  });
}

}  // namespace

void add_norm_kernels(KernelTable& table) {
  table[KernelId::layer_norm] = layer_norm;
  table[KernelId::layer_norm_backward] = layer_norm_backward;
}

}  // namespace shardlings::back::cpu
