// Launch geometry: every row and element has a thread, within CUDA's limits, and independent of the machine.
#include "back/kernels/cuda/geometry.h"

#include <gtest/gtest.h>

namespace shardlings::back::cuda {
namespace {

constexpr Count kHuge = Count{1} << 45;  // far beyond what 32 bits count

TEST(Geometry, DividesUpwards) {
  EXPECT_EQ(ceil_div(0, 256), 0);
  EXPECT_EQ(ceil_div(1, 256), 1);
  EXPECT_EQ(ceil_div(256, 256), 1);
  EXPECT_EQ(ceil_div(257, 256), 2);
  EXPECT_EQ(ceil_div(kHuge + 1, 2), kHuge / 2 + 1);
}

TEST(Geometry, HasAThreadForEachItemUpToItsLimit) {
  EXPECT_EQ(grid_for(0), (Grid{1, 1, kThreads}));
  EXPECT_EQ(grid_for(1), (Grid{1, 1, kThreads}));
  EXPECT_EQ(grid_for(kThreads + 1), (Grid{2, 1, kThreads}));
  EXPECT_EQ(grid_for(kHuge), (Grid{kMostBlocks, 1, kThreads})) << "kernels go on in strides of the grid";
}

TEST(Geometry, GivesRowsWholeWarps) {
  for (Count items = 0; items < 3000; ++items) {
    const unsigned threads = row_threads(items);
    ASSERT_EQ(threads % kWarp, 0U);
    ASSERT_LE(threads, kMostRowThreads);
    ASSERT_TRUE(threads >= items || threads == kMostRowThreads) << items;
    ASSERT_TRUE(threads == kWarp || threads / 2 < items) << items << ": half would do";
  }
  EXPECT_EQ(grid_of_rows(kHuge, 5).x, kMostBlocks);
}

TEST(Geometry, CoversAllRowsInChunks) {
  for (const Count rows : {Count{1}, Count{15}, Count{16}, Count{17}, Count{1000}, Count{65536}, kHuge}) {
    for (const Count cols : {Count{1}, Count{127}, Count{129}, Count{12288}, kHuge}) {
      const ColumnGrid columns = grid_of_columns(rows, cols);
      EXPECT_GE(columns.chunks * columns.rows_of_chunk, rows) << rows << " x " << cols;
      EXPECT_LT((columns.chunks - 1) * columns.rows_of_chunk, rows) << "the last chunk has rows";
      EXPECT_EQ(columns.grid.y, columns.chunks);
      EXPECT_LE(columns.chunks, kMostBlocksY);
      EXPECT_LE(columns.grid.x, kMostBlocks);
    }
  }
}

TEST(Geometry, SumsTotalsInFewBlocks) {
  EXPECT_EQ(grid_of_total(0).x, 1U);
  EXPECT_EQ(grid_of_total(kHuge).x, 512U);
}

}  // namespace
}  // namespace shardlings::back::cuda
