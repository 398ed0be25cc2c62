/// \file
/// Sums over a whole array, in double: by block first, then the blocks in order.
#pragma once

#include "back/kernels/cuda/block.h"

namespace shardlings::back::cuda {

/// partial[block] = sum of f(i) over the block's share of n.
template <class F>
__global__ void total_partials_kernel(double* partial, Count n, F f) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  double total = 0;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) total += f(i);
  total = sum_block(total);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// *y += sum of partial / divisor. One block.
static __global__ void add_total_kernel(float* y, const double* partial, unsigned blocks, double divisor) {
  double total = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) total += partial[i];
  total = sum_block(total);
  if (threadIdx.x == 0) *y += static_cast<float>(total / divisor);
}

/// *y += sum over i < n of f(i), divided.
template <class F>
void add_total(const LaneContext& lane, Count n, F f, float* y, double divisor = 1) {
  const Grid grid = grid_of_total(n);
  const Scratch room(lane, static_cast<Count>(grid.x * sizeof(double)));
  enqueue(lane, grid, total_partials_kernel<F>, room.as<double>(), n, f);
  enqueue(lane, Grid{}, add_total_kernel, y, room.as<double>(), grid.x, divisor);
}

}  // namespace shardlings::back::cuda
