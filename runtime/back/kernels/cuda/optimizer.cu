// Updates of weights. Arithmetic in f32.
#include <cmath>

#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

struct AdamNumbers {
  float lr, beta1, beta2, eps, decay;
  float correction1, correction2;
};

/// Device scalars, or null if they were not given.
struct Decisions {
  const float* factor;
  const float* skip;
};

__device__ inline void adam_element(const AdamNumbers& a, float g, float& w, float& m, float& v) {
  m = a.beta1 * m + (1.0F - a.beta1) * g;
  v = a.beta2 * v + (1.0F - a.beta2) * g * g;
  const float direction = m * a.correction1 / (sqrtf(v * a.correction2) + a.eps);
  w -= a.lr * (direction + a.decay * w);
}

template <int N, class T>
__global__ void adam_kernel(Count n, AdamNumbers a, Decisions decided, float* w, float* m, float* v, const T* grad) {
  if (decided.skip != nullptr && *decided.skip != 0.0F) return;
  const float factor = decided.factor != nullptr ? *decided.factor : 1.0F;
  const Count first = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  const Count packs = n / N;
  using Floats = Pack<float, N>;
  for (Count i = first; i < packs; i += step) {
    Floats pw = reinterpret_cast<const Floats*>(w)[i];
    Floats pm = reinterpret_cast<const Floats*>(m)[i];
    Floats pv = reinterpret_cast<const Floats*>(v)[i];
    const Pack<T, N> g = reinterpret_cast<const Pack<T, N>*>(grad)[i];
    for (int j = 0; j < N; ++j) adam_element(a, factor * load(g.v[j]), pw.v[j], pm.v[j], pv.v[j]);
    reinterpret_cast<Floats*>(w)[i] = pw;
    reinterpret_cast<Floats*>(m)[i] = pm;
    reinterpret_cast<Floats*>(v)[i] = pv;
  }
  for (Count i = packs * N + first; i < n; i += step) adam_element(a, factor * load(grad[i]), w[i], m[i], v[i]);
}

void adam(const Kernel& k, const LaneContext& lane) {
  const Count n = k.n[0];
  if (n == 0) return;
  const auto step = static_cast<double>(k.n[1]);
  const auto correction = [&](float beta) {
    return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta), step)));
  };
  const AdamNumbers a{k.f[0], k.f[1], k.f[2], k.f[3], k.f[4], correction(k.f[1]), correction(k.f[2])};
  const Decisions decided{in<float>(k, 1), in<float>(k, 2)};
  auto* w = out<float>(k, 0);
  auto* m = out<float>(k, 1);
  auto* v = out<float>(k, 2);
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    const auto* grad = in<T>(k, 0);
    if (aligned<4>(w) && aligned<4>(m) && aligned<4>(v) && aligned<4>(grad)) {
      enqueue(lane, grid_for(ceil_div(n, 4)), adam_kernel<4, T>, n, a, decided, w, m, v, grad);
    } else {
      enqueue(lane, grid_for(n), adam_kernel<1, T>, n, a, decided, w, m, v, grad);
    }
  });
}

struct Sgd {
  float lr;
  const float* factor;
  __device__ float operator()(float w, float g) const {
    const float rate = factor != nullptr ? lr * *factor : lr;
    return w - rate * g;
  }
};

void sgd(const Kernel& k, const LaneContext& lane) {
  auto* w = out<float>(k, 0);
  by_float(k.dtype, [&](auto type) {
    map(lane, k.n[0], Sgd{k.f[0], in<float>(k, 1)}, w, w, in<decltype(type)>(k, 0));
  });
}

}  // namespace

void add_optimizer_kernels(KernelTable& table) {
  table[KernelId::adam] = adam;
  table[KernelId::sgd] = sgd;
}

}  // namespace shardlings::back::cuda
