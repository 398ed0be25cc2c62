// Rows of a table by id, positions, and the gradients of both.
#include "back/kernels/cuda/block.h"
#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

/// Which row of the table an id means, or -1 if the table (rows [begin, end) of the whole) does not hold it.
__device__ inline Count row_of(std::int32_t id, Count begin, Count end) {
  return id >= 0 && id >= begin && id < end ? id - begin : -1;
}

template <class C, class T>
__global__ void embedding_kernel(T* y, const std::int32_t* ids, const T* table, Count count, Count h, Count begin,
                                 Count end) {
  for (Count i = blockIdx.x; i < count; i += gridDim.x) {
    const Count row = row_of(ids[i], begin, end);
    if (row < 0) {
      map_columns<C>(
          h, [](Count) { return 0.0F; }, y + i * h);
    } else {
      map_columns<C>(
          h, [](Count, float v) { return v; }, y + i * h, table + row * h);
    }
  }
}

void embedding(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0], ceil_div(k.n[1], C::kWidth)), embedding_kernel<C, T>, out<T>(k, 0),
                  in<std::int32_t>(k, 0), in<T>(k, 1), k.n[0], k.n[1], k.n[2], k.n[3]);
        },
        out<T>(k, 0), in<T>(k, 1));
  });
}

/// y[ids[i] - begin] += grad[i], always in the order of i: the block of an id's first occurrence adds all of them, and
/// the blocks of later ones do nothing. So a table of a large vocabulary is touched where there are ids only, and no
/// atomic addition is needed.
template <class A, class T>
__global__ void scatter_add_kernel(A* y, const std::int32_t* ids, const T* grad, Count count, Count h, Count begin,
                                   Count end) {
  const Count col = static_cast<Count>(blockIdx.y) * blockDim.x + threadIdx.x;
  for (Count i = blockIdx.x; i < count; i += gridDim.x) {
    const std::int32_t id = ids[i];
    const Count row = row_of(id, begin, end);
    if (row < 0) continue;
    int earlier = 0;
    for (Count j = threadIdx.x; j < i; j += blockDim.x) earlier |= ids[j] == id ? 1 : 0;
    if (__syncthreads_or(earlier) != 0) continue;
    const bool mine = col < h;
    float total = mine ? load(y[row * h + col]) : 0.0F;
    __shared__ unsigned found[kThreads / kWarp];
    for (Count first = i; first < count; first += blockDim.x) {
      const Count j = first + threadIdx.x;
      const unsigned of_warp = __ballot_sync(0xFFFFFFFFU, j < count && ids[j] == id);
      __syncthreads();  // all have read what the last round found
      if (threadIdx.x % kWarp == 0) found[threadIdx.x / kWarp] = of_warp;
      __syncthreads();
      for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) {
        for (unsigned left = found[warp]; left != 0; left &= left - 1) {
          const Count at = first + warp * kWarp + static_cast<Count>(__ffs(static_cast<int>(left)) - 1);
          if (mine) total += load(grad[at * h + col]);
        }
      }
    }
    if (mine) store(y[row * h + col], total);
  }
}

void embedding_backward_add(const Kernel& k, const LaneContext& lane) {
  if (k.n[0] == 0 || k.n[1] == 0) return;
  by_floats(k.dtype, k.n[4], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    Grid grid = grid_of_rows(k.n[0], kThreads);
    grid.threads = static_cast<unsigned>(std::min<Count>(row_threads(k.n[1]), kThreads));
    grid.y = static_cast<unsigned>(ceil_div(k.n[1], grid.threads));
    enqueue(lane, grid, scatter_add_kernel<A, T>, out<A>(k, 0), in<std::int32_t>(k, 0), in<T>(k, 1), k.n[0], k.n[1],
            k.n[2], k.n[3]);
  });
}

/// y (s, b, h) += p (s, h)
template <class C, class T>
__global__ void add_positions_kernel(T* y, const T* p, Count rows, Count b, Count h) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    map_columns<C>(
        h, [](Count, float a, float v) { return a + v; }, y + r * h, y + r * h, p + r / b * h);
  }
}

void add_positions(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[2],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(k.n[0] * k.n[1], ceil_div(k.n[2], C::kWidth)), add_positions_kernel<C, T>,
                  out<T>(k, 0), in<T>(k, 0), k.n[0] * k.n[1], k.n[1], k.n[2]);
        },
        out<T>(k, 0), in<T>(k, 0));
  });
}

/// y (s, h) += sum over b of x (s, b, h)
template <class A, class T>
__global__ void sum_positions_kernel(A* y, const T* x, Count s, Count b, Count h) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < s * h; i += step) {
    const Count position = i / h;
    const Count col = i % h;
    float total = 0;
    for (Count j = 0; j < b; ++j) total += load(x[(position * b + j) * h + col]);
    store(y[i], load(y[i]) + total);
  }
}

void sum_positions_add(const Kernel& k, const LaneContext& lane) {
  by_floats(k.dtype, k.n[3], [&](auto type, auto accumulated) {
    using T = decltype(type);
    using A = decltype(accumulated);
    enqueue(lane, grid_for(k.n[0] * k.n[2]), sum_positions_kernel<A, T>, out<A>(k, 0), in<T>(k, 0), k.n[0], k.n[1],
            k.n[2]);
  });
}

}  // namespace

void add_embedding_kernels(KernelTable& table) {
  table[KernelId::embedding] = embedding;
  table[KernelId::embedding_backward_add] = embedding_backward_add;
  table[KernelId::add_positions] = add_positions;
  table[KernelId::sum_positions_add] = sum_positions_add;
}

}  // namespace shardlings::back::cuda
