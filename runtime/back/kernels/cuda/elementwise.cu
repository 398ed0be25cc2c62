// y[i] from y[i] and x[i].
#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Axpy {
  float alpha;
  __device__ float operator()(float a, float b) const { return a + alpha * b; }
};

struct Scale {
  float factor;
  __device__ float operator()(float a) const { return a * factor; }
};

struct ScaleBy {
  const float* factor;
  __device__ float operator()(float a) const { return a * *factor; }
};

void add(const Kernel& k, const LaneContext& lane) {
  if (k.dtype == DType::i32) {
    auto* y = out<std::uint32_t>(k, 0);  // unsigned: sums wrap around
    return map(lane, k.n[0], Add{}, y, y, in<std::uint32_t>(k, 0));
  }
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    map(lane, k.n[0], Add{}, y, y, in<decltype(type)>(k, 0));
  });
}

void axpy(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    map(lane, k.n[0], Axpy{k.f[0]}, y, y, in<decltype(type)>(k, 0));
  });
}

void scale(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    map(lane, k.n[0], Scale{k.f[0]}, y, y);
  });
}

void scale_by(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    auto* y = out<decltype(type)>(k, 0);
    map(lane, k.n[0], ScaleBy{in<float>(k, 0)}, y, y);
  });
}

}  // namespace

void add_elementwise_kernels(KernelTable& table) {
  table[KernelId::add] = add;
  table[KernelId::axpy] = axpy;
  table[KernelId::scale] = scale;
  table[KernelId::scale_by] = scale_by;
}

}  // namespace shardlings::back::cuda
