// One value for each row, one element of each row, and the largest of a row.
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

/// Bits that are in the order of absolute values, with every NaN above all of them.
__device__ inline std::uint32_t magnitude(float x) {
  constexpr std::uint32_t kAllButSign = 0x7FFFFFFFU;
  return x != x ? kAllButSign : __float_as_uint(x) & kAllButSign;
}

/// How many of a row are as large as `least`. All threads of the block call it, and get the same number.
template <class T>
__device__ Count count_from(const T* row, Count cols, std::uint32_t least) {
  double found = 0;  // exact up to 2^53
  for (Count i = threadIdx.x; i < cols; i += blockDim.x) found += magnitude(load(row[i])) >= least ? 1 : 0;
  return static_cast<Count>(sum_block(found));
}

/// The k-th largest of a row, bit by bit from the highest one.
template <class T>
__device__ std::uint32_t kth_magnitude(const T* row, Count cols, Count k) {
  std::uint32_t largest = 0;  // so many are as large, at least k
  for (unsigned bit = 31; bit-- > 0;) {
    const std::uint32_t larger = largest | (1U << bit);
    if (count_from(row, cols, larger) >= k) largest = larger;
  }
  return largest;
}

/// Votes of the threads of a block: of those before this one, and of all.
struct Votes {
  Count before = 0;
  Count all = 0;
};

/// All threads of the block call it.
__device__ inline Votes votes_of_block(bool vote) {
  __shared__ unsigned of_warps[kMostRowThreads / kWarp];
  const unsigned own = __ballot_sync(0xFFFFFFFFU, vote);
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  __syncthreads();  // what an earlier call left there has been read by all
  if (lane == 0) of_warps[warp] = own;
  __syncthreads();
  Votes votes;
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    votes.all += __popc(of_warps[w]);
    if (w < warp) votes.before += __popc(of_warps[w]);
  }
  votes.before += __popc(own & ((1U << lane) - 1));
  return votes;
}

template <class T>
__global__ void top_k_kernel(std::int32_t* y, const T* x, Count rows, Count cols, Count k) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    const T* row = x + r * cols;
    const std::uint32_t least = kth_magnitude(row, cols, k);
    Count ties = k - count_from(row, cols, least + 1);  // so many of those that are as large as the k-th are taken
    Count placed = 0;
    for (Count first = 0; first < cols; first += blockDim.x) {
      const Count column = first + threadIdx.x;
      const bool inside = column < cols;
      const std::uint32_t size = inside ? magnitude(load(row[column])) : 0;
      const bool tie = inside && size == least;
      const Votes tied = votes_of_block(tie);
      const bool chosen = inside && (size > least || (tie && tied.before < ties));
      const Votes taken = votes_of_block(chosen);
      if (chosen) y[r * k + placed + taken.before] = static_cast<std::int32_t>(r * cols + column);
      ties -= ties < tied.all ? ties : tied.all;
      placed += taken.all;
    }
  }
}

void top_k(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    enqueue(lane, grid_of_rows(k.n[0], k.n[1]), top_k_kernel<T>, out<std::int32_t>(k, 0), in<T>(k, 0), k.n[0], k.n[1],
            k.n[2]);
  });
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
  table[KernelId::top_k] = top_k;
}

}  // namespace shardlings::back::cuda
