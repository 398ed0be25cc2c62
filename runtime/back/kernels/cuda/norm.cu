// Layer normalisation (Ba et al. 2016).
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/columns.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

/// Mean first, then the squares of the differences: no cancellation. stats may be null.
template <class C, class T>
__global__ void layer_norm_kernel(T* y, float* stats, const T* x, const T* weight, const T* bias, Count rows,
                                  Count cols, float epsilon) {
  const auto width = static_cast<float>(cols);
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const T* row = x + r * cols;
    float total = 0;
    each_column<C>(
        cols, [&](Count, float v) { total += v; }, row);
    const float mean = sum_block(total) / width;
    float squares = 0;
    each_column<C>(
        cols, [&](Count, float v) { squares += (v - mean) * (v - mean); }, row);
    const float inverse = 1.0F / sqrtf(sum_block(squares) / width + epsilon);
    map_columns<C>(
        cols, [&](Count, float v, float w, float b) { return (v - mean) * inverse * w + b; }, y + r * cols, row, weight,
        bias);
    if (stats == nullptr || threadIdx.x != 0) continue;
    stats[r] = mean;
    stats[rows + r] = inverse;
  }
}

/// With n = (x - mean) inverse and g = grad weight: inverse (g - mean(g) - n mean(g n)).
template <class C, class T>
__global__ void grad_of_x_kernel(T* y, const T* x, const T* weight, const float* stats, const T* grad, Count rows,
                                 Count cols) {
  const auto width = static_cast<float>(cols);
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const float mean = stats[r];
    const float inverse = stats[rows + r];
    float of_g = 0;
    float of_gn = 0;
    each_column<C>(
        cols,
        [&](Count, float v, float w, float g) {
          of_g += g * w;
          of_gn += g * w * ((v - mean) * inverse);
        },
        x + r * cols, weight, grad + r * cols);
    of_g = sum_block(of_g) / width;
    of_gn = sum_block(of_gn) / width;
    map_columns<C>(
        cols, [&](Count, float v, float w, float g) { return inverse * (g * w - of_g - (v - mean) * inverse * of_gn); },
        y + r * cols, x + r * cols, weight, grad + r * cols);
  }
}

template <class T>
struct GradOfWeights {
  const T* x;
  const T* grad;
  const float* stats;
  Count rows, cols;
  __device__ void operator()(Count row, Count col, float (&sums)[2]) const {
    const float g = load(grad[row * cols + col]);
    sums[0] += g * ((load(x[row * cols + col]) - stats[row]) * stats[rows + row]);
    sums[1] += g;
  }
};

void layer_norm(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), layer_norm_kernel<C, T>, out<T>(k, 0),
                  out<float>(k, 1), in<T>(k, 0), in<T>(k, 1), in<T>(k, 2), k.n[0], k.n[1], k.f[0]);
        },
        out<T>(k, 0), in<T>(k, 0), in<T>(k, 1), in<T>(k, 2));
  });
}

void layer_norm_backward(const Kernel& k, const LaneContext& lane) {
  const Count rows = k.n[0];
  const Count cols = k.n[1];
  const auto* stats = in<float>(k, 2);
  by_floats(k.dtype, k.n[2], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    // Before the gradient of x, which may take the place of an input.
    add_column_sums<A>(lane, rows, cols, GradOfWeights<T>{in<T>(k, 0), in<T>(k, 3), stats, rows, cols}, out<A>(k, 0),
                       out<A>(k, 1));
    by_pack(
        cols,
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(rows, ceil_div(cols, C::kWidth)), grad_of_x_kernel<C, T>, out<T>(k, 2),
                  in<T>(k, 0), in<T>(k, 1), stats, in<T>(k, 3), rows, cols);
        },
        out<T>(k, 2), in<T>(k, 0), in<T>(k, 1), in<T>(k, 3));
  });
}

}  // namespace

void add_norm_kernels(KernelTable& table) {
  table[KernelId::layer_norm] = layer_norm;
  table[KernelId::layer_norm_backward] = layer_norm_backward;
}

}  // namespace shardlings::back::cuda
