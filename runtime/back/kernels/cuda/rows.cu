// One value for each row, and one element of each row.
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

template <class C, class T>
__global__ void row_max_kernel(T* y, const T* x, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    float top = -INFINITY;
    each_column<C>(
        cols, [&](Count, float v) { top = Largest{}(top, v); }, x + r * cols);
    top = largest_of_block(top);
    if (threadIdx.x == 0) store(y[r], top);
  }
}

template <class C, class T>
__global__ void row_sum_kernel(T* y, const T* x, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    float total = 0;
    each_column<C>(
        cols, [&](Count, float v) { total += v; }, x + r * cols);
    total = sum_block(total);
    if (threadIdx.x == 0) store(y[r], total);
  }
}

struct ExpMinus {
  __device__ float operator()(float x, float row) const { return expf(x - row); }
};
struct Divided {
  __device__ float operator()(float x, float row) const { return x / row; }
};
struct Multiplied {
  __device__ float operator()(float x, float row) const { return x * row; }
};

/// y[r][i] = f(y[r][i], row[r])
template <class C, class F, class T>
__global__ void by_row_kernel(T* y, const T* row, Count rows, Count cols) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const float value = load(row[r]);
    map_columns<C>(
        cols, [&](Count, float v) { return F{}(v, value); }, y + r * cols, y + r * cols);
  }
}

void row_max(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), row_max_kernel<C, T>, out<T>(k, 0),
                  in<T>(k, 0), k.n[0], k.n[1]);
        },
        in<T>(k, 0));
  });
}

void row_sum(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), row_sum_kernel<C, T>, out<T>(k, 0),
                  in<T>(k, 0), k.n[0], k.n[1]);
        },
        in<T>(k, 0));
  });
}

template <class F>
void by_row(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), by_row_kernel<C, F, T>, out<T>(k, 0),
                  in<T>(k, 0), k.n[0], k.n[1]);
        },
        out<T>(k, 0));
  });
}

/// Where in a row an id's element is, or -1.
__device__ inline Count column_of(std::int32_t id, Count begin, Count end) {
  return id >= begin && id < end && id >= 0 ? id - begin : -1;
}

template <class T>
__global__ void pick_kernel(T* y, const T* x, const std::int32_t* ids, Count rows, Count cols, Count begin, Count end) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count r = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; r < rows; r += step) {
    const Count column = column_of(ids[r], begin, end);
    store(y[r], column < 0 ? 0.0F : load(x[r * cols + column]));
  }
}

template <class T>
__global__ void add_at_kernel(T* y, const std::int32_t* ids, Count rows, Count cols, Count begin, Count end,
                              float value) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count r = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; r < rows; r += step) {
    const Count column = column_of(ids[r], begin, end);
    if (column >= 0) store(y[r * cols + column], load(y[r * cols + column]) + value);
  }
}

void pick(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_for(k.n[0]), pick_kernel<T>, out<T>(k, 0), in<T>(k, 0), in<std::int32_t>(k, 1), k.n[0], k.n[1],
            k.n[2], k.n[3]);
  });
}

void add_at(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_for(k.n[0]), add_at_kernel<T>, out<T>(k, 0), in<std::int32_t>(k, 0), k.n[0], k.n[1], k.n[2],
            k.n[3], k.f[0]);
  });
}

}  // namespace

void add_row_kernels(KernelTable& table) {
  table[KernelId::row_max] = row_max;
  table[KernelId::row_sum] = row_sum;
  table[KernelId::exp_minus_row] = by_row<ExpMinus>;
  table[KernelId::divide_rows] = by_row<Divided>;
  table[KernelId::scale_rows] = by_row<Multiplied>;
  table[KernelId::pick] = pick;
  table[KernelId::add_at] = add_at;
}

}  // namespace shardlings::back::cuda
