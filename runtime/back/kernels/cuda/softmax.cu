// Softmax of rows and its gradient.
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

template <class C, class T>
__global__ void softmax_kernel(T* y, const T* x, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const T* row = x + r * cols;
    float top = -INFINITY;
    each_column<C>(
        cols, [&](Count, float v) { top = Largest{}(top, v); }, row);
    top = largest_of_block(top);
    float total = 0;
    each_column<C>(
        cols, [&](Count, float v) { total += expf(v - top); }, row);
    const float factor = 1.0F / sum_block(total);
    map_columns<C>(
        cols, [&](Count, float v) { return expf(v - top) * factor; }, y + r * cols, row);
  }
}

template <class C, class T>
__global__ void softmax_backward_kernel(T* out, const T* y, const T* grad, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    float dot = 0;
    each_column<C>(
        cols, [&](Count, float v, float g) { dot += v * g; }, y + r * cols, grad + r * cols);
    dot = sum_block(dot);
    map_columns<C>(
        cols, [&](Count, float v, float g) { return v * (g - dot); }, out + r * cols, y + r * cols, grad + r * cols);
  }
}

void softmax(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), softmax_kernel<C, T>, out<T>(k, 0),
                  in<T>(k, 0), k.n[0], k.n[1]);
        },
        out<T>(k, 0), in<T>(k, 0));
  });
}

void softmax_backward(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), softmax_backward_kernel<C, T>, out<T>(k, 0),
                  in<T>(k, 0), in<T>(k, 1), k.n[0], k.n[1]);
        },
        out<T>(k, 0), in<T>(k, 0), in<T>(k, 1));
  });
}

}  // namespace

void add_softmax_kernels(KernelTable& table) {
  table[KernelId::softmax] = softmax;
  table[KernelId::softmax_backward] = softmax_backward;
}

}  // namespace shardlings::back::cuda
