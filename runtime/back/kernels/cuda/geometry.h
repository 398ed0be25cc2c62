/// \file
/// How many blocks and threads a kernel gets. Depends on extents only, never on the GPU: sums that are made in parts
/// must be made in the same parts everywhere.
#pragma once

#include <algorithm>

#include "shardlings/tensor.h"

namespace shardlings::back::cuda {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kThreads = 256;
/// Of a block that has a row to itself.
inline constexpr unsigned kMostRowThreads = 512;
/// CUDA's limits of a grid: 2^31 - 1 blocks in x, 65535 in y. Kernels go on in strides of the whole grid.
inline constexpr Count kMostBlocks = 1 << 16;
inline constexpr Count kMostBlocksY = 65535;

struct Grid {
  unsigned x = 1;
  unsigned y = 1;
  unsigned threads = kThreads;
  constexpr bool operator==(const Grid&) const = default;
};

constexpr Count ceil_div(Count a, Count b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// One thread for each item, as far as the grid goes. For no items still one block, which finds nothing to do.
constexpr Grid grid_for(Count items) {
  return {static_cast<unsigned>(std::clamp<Count>(ceil_div(items, kThreads), 1, kMostBlocks)), 1, kThreads};
}

/// A power of two from a warp up: about one thread for each of `items` pieces of a row.
constexpr unsigned row_threads(Count items) {
  unsigned threads = kWarp;
  while (threads < kMostRowThreads && threads < items) threads *= 2;
  return threads;
}

/// One block for each row, as far as the grid goes.
constexpr Grid grid_of_rows(Count rows, Count items_of_row) {
  return {static_cast<unsigned>(std::clamp<Count>(rows, 1, kMostBlocks)), 1, row_threads(items_of_row)};
}

/// A sum over rows is made in chunks of rows first, then over the chunks in order.
struct ColumnGrid {
  Grid grid;
  Count chunks = 1;
  Count rows_of_chunk = 1;
};

constexpr ColumnGrid grid_of_columns(Count rows, Count cols) {
  constexpr unsigned kColumnThreads = 128;
  constexpr Count kFewestRows = 16;  // fewer are not worth a block
  constexpr Count kEnoughBlocks = 1024;
  const Count wide = std::clamp<Count>(ceil_div(cols, kColumnThreads), 1, kMostBlocks);
  const Count wanted = std::clamp<Count>(kEnoughBlocks / wide, 1, kMostBlocksY);
  const Count rows_of_chunk = std::max(kFewestRows, ceil_div(rows, wanted));
  const Count chunks = std::max<Count>(1, ceil_div(rows, rows_of_chunk));
  return {{static_cast<unsigned>(wide), static_cast<unsigned>(chunks), kColumnThreads}, chunks, rows_of_chunk};
}

/// Sums of all elements of an array are made by so many blocks at most, then over the blocks in order.
constexpr Grid grid_of_total(Count items) {
  constexpr Count kMostPartials = 512;
  return {static_cast<unsigned>(std::clamp<Count>(ceil_div(items, 4 * kThreads), 1, kMostPartials)), 1, kThreads};
}

}  // namespace shardlings::back::cuda
