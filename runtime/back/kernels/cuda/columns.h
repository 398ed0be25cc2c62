/// \file
/// Sums over the rows of a matrix, column by column: chunks of rows first, then the chunks in order. No atomics, so
/// that two runs agree bit for bit.
#pragma once

#include "back/kernels/cuda/element.h"

namespace shardlings::back::cuda {

/// partial[chunk][k][col] = sums of what f(row, col, sums) adds, over the rows of the chunk.
template <int K, class F>
__global__ void column_partials_kernel(float* partial, Count rows, Count cols, Count rows_of_chunk, F f) {
  const Count begin = static_cast<Count>(blockIdx.y) * rows_of_chunk;
  const Count end = begin + rows_of_chunk < rows ? begin + rows_of_chunk : rows;
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count col = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; col < cols; col += step) {
    float sums[K] = {};
    for (Count row = begin; row < end; ++row) f(row, col, sums);
    for (int k = 0; k < K; ++k) partial[(static_cast<Count>(blockIdx.y) * K + k) * cols + col] = sums[k];
  }
}

/// y[col] += sum over the chunks of partial[chunk * stride + col]. Summed apart and added at the end, so that what was
/// there loses nothing to the order of the rows.
template <class A>
__global__ void add_partials_kernel(A* y, const float* partial, Count chunks, Count stride, Count cols) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count col = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; col < cols; col += step) {
    float total = 0;
    for (Count chunk = 0; chunk < chunks; ++chunk) total += partial[chunk * stride + col];
    store(y[col], load(y[col]) + total);
  }
}

/// sums[k][col] += over the rows what f adds; K of them.
template <class A, class F, class... Sums>
void add_column_sums(const LaneContext& lane, Count rows, Count cols, F f, Sums*... sums) {
  if (rows == 0 || cols == 0) return;
  constexpr int kK = sizeof...(Sums);
  const ColumnGrid columns = grid_of_columns(rows, cols);
  const Scratch room(lane, columns.chunks * kK * cols * static_cast<Count>(sizeof(float)));
  auto* partial = room.as<float>();
  enqueue(lane, columns.grid, column_partials_kernel<kK, F>, partial, rows, cols, columns.rows_of_chunk, f);
  Count k = 0;
  (enqueue(lane, grid_for(cols), add_partials_kernel<A>, sums, partial + k++ * cols, columns.chunks, kK * cols, cols),
   ...);
}

}  // namespace shardlings::back::cuda
