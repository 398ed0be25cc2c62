// GELU (tanh form) and ReLU with their gradients.
//
// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): one exp, no cancellation.
#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

__device__ inline float two_u(float x) {
  constexpr float kTwoRoot2OverPi = 1.595769122F;  // 2 sqrt(2/pi)
  constexpr float kCubic = 0.044715F;
  return kTwoRoot2OverPi * x * (1.0F + kCubic * x * x);
}

/// (2u)'
__device__ inline float two_u_slope(float x) {
  constexpr float kTwoRoot2OverPi = 1.595769122F;
  constexpr float kThreeCubic = 3.0F * 0.044715F;
  return kTwoRoot2OverPi * (1.0F + kThreeCubic * x * x);
}

__device__ inline float gate(float x) {
  return 1.0F / (1.0F + expf(-two_u(x)));
}

struct Gelu {
  __device__ float operator()(float x) const { return x * gate(x); }
};

/// (x g(x))' = g + x g (1 - g) (2u)'
struct GeluBackward {
  __device__ float operator()(float x, float grad) const {
    const float g = gate(x);
    return grad * (g + x * g * (1.0F - g) * two_u_slope(x));
  }
};

struct Relu {
  __device__ float operator()(float x) const { return x < 0.0F ? 0.0F : x; }  // a NaN stays
};

struct ReluBackward {
  __device__ float operator()(float x, float grad) const { return x > 0.0F ? grad : 0.0F; }
};

template <class F>
void forward(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(lane, k.n[0], F{}, out<T>(k, 0), in<T>(k, 0));
  });
}

template <class F>
void backward(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    map(lane, k.n[0], F{}, out<T>(k, 0), in<T>(k, 0), in<T>(k, 1));
  });
}

}  // namespace

void add_activation_kernels(KernelTable& table) {
  table[KernelId::gelu] = forward<Gelu>;
  table[KernelId::gelu_backward] = backward<GeluBackward>;
  table[KernelId::relu] = forward<Relu>;
  table[KernelId::relu_backward] = backward<ReluBackward>;
}

}  // namespace shardlings::back::cuda
