// Biases: the same vector for every row, and its gradient.
#include "back/kernels/cuda/columns.h"

#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

template <class C, class T>
__global__ void add_bias_kernel(T* y, const T* bias, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    map_columns<C>(
        cols, [](Count, float a, float b) { return a + b; }, y + r * cols, y + r * cols, bias);
  }
}

void add_bias(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), add_bias_kernel<C, T>, out<T>(k, 0),
                  in<T>(k, 0), k.n[0], k.n[1]);
        },
        out<T>(k, 0), in<T>(k, 0));
  });
}

template <class T>
struct Element {
  const T* x;
  Count cols;
  __device__ void operator()(Count row, Count col, float (&sum)[1]) const { sum[0] += load(x[row * cols + col]); }
};

void sum_rows_add(const Kernel& k, const LaneContext& lane) {
  by_floats(k.dtype, k.n[2], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    add_column_sums<A>(lane, k.n[0], k.n[1], Element<T>{in<T>(k, 0), k.n[1]}, out<A>(k, 0));
  });
}

}  // namespace

void add_column_kernels(KernelTable& table) {
  table[KernelId::add_bias] = add_bias;
  table[KernelId::sum_rows_add] = sum_rows_add;
}

}  // namespace shardlings::back::cuda
