// Cross entropy and its gradient.
#include "back/kernels/cuda/table.h"
#include "back/kernels/cuda/totals.h"

namespace shardlings::back::cuda {
namespace {

/// Rows become their gradients, (softmax - one-hot) / tokens; losses[r] = log(sum exp) - logit of the target.
template <class C, class T>
__global__ void cross_entropy_kernel(T* logits, float* losses, const std::int32_t* targets, Count rows, Count cols,
                                     float tokens) {
  for (Count r = blockIdx.x; r < rows; r += gridDim.x) {
    T* row = logits + r * cols;
    const std::int32_t target = targets[r];
    if (target < 0 || target >= cols) {
      const float value = target < 0 ? 0.0F : NAN;
      map_columns<C>(
          cols, [&](Count) { return value; }, row);
      if (threadIdx.x == 0) losses[r] = value;
      continue;
    }
    const float hit = load(row[target]);
    float top = -INFINITY;
    each_column<C>(
        cols, [&](Count, float v) { top = Largest{}(top, v); }, static_cast<const T*>(row));
    top = largest_of_block(top);
    float total = 0;
    each_column<C>(
        cols, [&](Count, float v) { total += expf(v - top); }, static_cast<const T*>(row));
    total = sum_block(total);
    const float factor = 1.0F / (total * tokens);
    map_columns<C>(
        cols,
        [&](Count i, float v) {
          const float e = expf(v - top);
          return (i == target ? e - total : e) * factor;  // before the rounding to T
        },
        row, static_cast<const T*>(row));
    if (threadIdx.x == 0) losses[r] = logf(total) + top - hit;
  }
}

struct Loss {
  const float* losses;
  __device__ double operator()(Count i) const { return static_cast<double>(losses[i]); }
};

void cross_entropy(const Kernel& k, const LaneContext& lane) {
  const Count rows = k.n[0];
  if (rows == 0) return;
  const Scratch room(lane, rows * static_cast<Count>(sizeof(float)));
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    by_pack(
        k.n[1],
        [&](auto c) {
          using C = decltype(c);
          enqueue(lane, grid_of_rows(rows, ceil_div(k.n[1], C::kWidth)), cross_entropy_kernel<C, T>, out<T>(k, 0),
                  room.as<float>(), in<std::int32_t>(k, 0), rows, k.n[1], static_cast<float>(k.n[2]));
        },
        out<T>(k, 0));
  });
  add_total(lane, rows, Loss{room.as<float>()}, out<float>(k, 1), static_cast<double>(k.n[2]));
}

template <class T>
struct SplitLoss {
  const T* sum;
  const T* hit;
  const T* top;
  const std::int32_t* targets;
  __device__ double operator()(Count i) const {
    if (targets[i] < 0) return 0;
    return static_cast<double>(logf(load(sum[i])) + load(top[i]) - load(hit[i]));
  }
};

void loss_add(const Kernel& k, const LaneContext& lane) {
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    add_total(lane, k.n[0], SplitLoss<T>{in<T>(k, 0), in<T>(k, 1), in<T>(k, 2), in<std::int32_t>(k, 3)},
              out<float>(k, 0), static_cast<double>(k.n[1]));
  });
}

}  // namespace

void add_loss_kernels(KernelTable& table) {
  table[KernelId::cross_entropy] = cross_entropy;
  table[KernelId::loss_add] = loss_add;
}

}  // namespace shardlings::back::cuda
