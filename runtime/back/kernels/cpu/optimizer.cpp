// Updates of weights, and what decides about them: norm, clip factor, finite flag. Arithmetic in f32.
#include <cmath>

#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

/// A device scalar, or `otherwise` if it was not given.
inline float scalar(const Kernel& k, int i, float otherwise) {
  return k.in[i] != nullptr ? *in<float>(k, i) : otherwise;
}

SHARDLINGS_KERNEL void adam(const Kernel& k, Workspace&) {
  if (scalar(k, 2, 0.0F) != 0.0F) return;
  const float factor = scalar(k, 1, 1.0F);
  const auto step = static_cast<double>(k.n[1]);
  const float lr = k.f[0];
  const float beta1 = k.f[1];
  const float beta2 = k.f[2];
  const float eps = k.f[3];
  const float decay = k.f[4];
  const auto correction1 = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta1), step)));
  const auto correction2 = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta2), step)));
  auto* w = out<float>(k, 0);
  auto* m = out<float>(k, 1);
  auto* v = out<float>(k, 2);
  by_float(k.dtype, [&](auto type) {
    const auto* grad = in<decltype(type)>(k, 0);
#pragma omp simd
    for (Count i = 0; i < k.n[0]; ++i) {
      const float g = factor * load(grad[i]);
      m[i] = beta1 * m[i] + (1.0F - beta1) * g;
      v[i] = beta2 * v[i] + (1.0F - beta2) * g * g;
      const float direction = m[i] * correction1 / (std::sqrt(v[i] * correction2) + eps);
      w[i] -= lr * (direction + decay * w[i]);
    }
  });
}

SHARDLINGS_KERNEL void sgd(const Kernel& k, Workspace&) {
  const float rate = k.f[0] * scalar(k, 1, 1.0F);
  auto* w = out<float>(k, 0);
  by_float(k.dtype, [&](auto type) {
    map(w, w, in<decltype(type)>(k, 0), k.n[0], [rate](float a, float g) { return a - rate * g; });
  });
}

SHARDLINGS_KERNEL void add_squares(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    const auto* x = in<decltype(type)>(k, 0);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (Count i = 0; i < k.n[0]; ++i) total += static_cast<double>(load(x[i])) * static_cast<double>(load(x[i]));
    *out<float>(k, 0) += static_cast<float>(total);
  });
}

void clip_factor(const Kernel& k, Workspace&) {
  const float norm = std::sqrt(*in<float>(k, 0));
  *out<float>(k, 0) = norm <= k.f[0] ? 1.0F : k.f[0] / norm;
}

SHARDLINGS_KERNEL void flag_nonfinite(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    const auto* x = in<decltype(type)>(k, 0);
    int found = 0;
#pragma omp simd reduction(| : found)
    for (Count i = 0; i < k.n[0]; ++i) {
      const float value = load(x[i]);
      found |= value - value != 0.0F ? 1 : 0;  // infinity - infinity is NaN, as is NaN - NaN
    }
    if (found != 0) *out<float>(k, 0) = 1.0F;
  });
}

}  // namespace

void add_optimizer_kernels(KernelTable& table) {
  table[KernelId::adam] = adam;
  table[KernelId::sgd] = sgd;
  table[KernelId::add_squares] = add_squares;
  table[KernelId::clip_factor] = clip_factor;
  table[KernelId::flag_nonfinite] = flag_nonfinite;
}

}  // namespace shardlings::back::cpu
