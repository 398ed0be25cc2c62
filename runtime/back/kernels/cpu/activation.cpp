// GELU (tanh form) and ReLU with their gradients.
//
// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): one exp, no cancellation.
#include "back/kernels/cpu/exp.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

constexpr float kTwoRoot2OverPi = 1.595769122F;  // 2 sqrt(2/pi)
constexpr float kCubic = 0.044715F;

inline float gate(float x) {
  return 1.0F / (1.0F + fast_exp(-kTwoRoot2OverPi * x * (1.0F + kCubic * x * x)));
}

inline float gelu_of(float x) {
  return x * gate(x);
}

/// (x g(x))' = g + x g (1 - g) (2u)'
inline float gelu_slope(float x) {
  const float g = gate(x);
  return g + x * g * (1.0F - g) * (kTwoRoot2OverPi * (1.0F + 3.0F * kCubic * x * x));
}

SHARDLINGS_KERNEL void gelu(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(out<T>(k, 0), in<T>(k, 0), k.n[0], [](float x) { return gelu_of(x); });
  });
}

SHARDLINGS_KERNEL void gelu_backward(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(out<T>(k, 0), in<T>(k, 0), in<T>(k, 1), k.n[0], [](float x, float grad) { return grad * gelu_slope(x); });
  });
}

SHARDLINGS_KERNEL void relu(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(out<T>(k, 0), in<T>(k, 0), k.n[0], [](float x) { return x < 0.0F ? 0.0F : x; });  // a NaN stays
  });
}

SHARDLINGS_KERNEL void relu_backward(const Kernel& k, Workspace&) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(out<T>(k, 0), in<T>(k, 0), in<T>(k, 1), k.n[0], [](float x, float grad) { return x > 0.0F ? grad : 0.0F; });
  });
}

}  // namespace

void add_activation_kernels(KernelTable& table) {
  table[KernelId::gelu] = gelu;
  table[KernelId::gelu_backward] = gelu_backward;
  table[KernelId::relu] = relu;
  table[KernelId::relu_backward] = relu_backward;
}

}  // namespace shardlings::back::cpu
