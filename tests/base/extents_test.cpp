#include "base/extents.h"

#include <gtest/gtest.h>

namespace shardlings {
namespace {

TEST(Extents, AreReplacedOneByOneWhateverTheRank) {
  EXPECT_EQ(with_extent({2, 3, 4, 5}, 0, 7), (Shape{7, 3, 4, 5}));
  EXPECT_EQ(with_extent({2, 3, 4, 5}, 2, 7), (Shape{2, 3, 7, 5}));
  EXPECT_EQ(with_extent({2, 3, 4}, 1, 7), (Shape{2, 7, 4}));
  EXPECT_EQ(with_extent({2, 3}, 1, 7), (Shape{2, 7}));
  EXPECT_EQ(with_extent(2, 0, 7), Shape(7));
  EXPECT_EQ(with_extent({}, 0, 7), Shape(7));
}

TEST(Extents, OfColumnsAreTheLast) {
  EXPECT_EQ(with_cols({2, 3, 4, 5}, 7), (Shape{2, 3, 4, 7}));
  EXPECT_EQ(with_cols(2, 7), Shape(7));
  EXPECT_EQ(with_cols({}, 7), Shape(7));
}

TEST(Extents, OfMoreColumnsComeBehindTheOthers) {
  EXPECT_EQ(with_more_cols({2, 3, 4}, 7), (Shape{2, 3, 4, 7}));
  EXPECT_EQ(with_more_cols({2, 3}, 7), (Shape{2, 3, 7}));
  EXPECT_EQ(with_more_cols(2, 7), (Shape{2, 7}));
  EXPECT_EQ(with_more_cols({}, 7), (Shape{0, 7}));
}

TEST(Extents, ArePossibleWhetherSmallOrNot) {
  const Count large = kMostElements;
  for (const Shape& shape : {Shape(), Shape(0), Shape(large), Shape{large, 1}, Shape{1, large, 0}, Shape{7, 0, 5},
                             Shape{Count{1} << 28, Count{1} << 28}, Shape{Count{1} << 14, 3, 3, Count{1} << 14}}) {
    EXPECT_TRUE(is_possible(shape)) << shape.rank() << " extents, the last " << shape.cols();
  }
  for (const Shape& shape : {Shape(-1), Shape(large + 1), Shape{large, 2}, Shape{large, 2, 0}, Shape{0, large + 1},
                             Shape{-2, -3}, Shape{3, 0, 1, -1}, Shape{large, large, large, large}}) {
    EXPECT_FALSE(is_possible(shape)) << shape.rank() << " extents, the last " << shape.cols();
  }
}

TEST(Extents, AreSmallOnlyWhereNoProductIsTooLarge) {
  for (int dims = 1; dims <= Shape::kMaxDims; ++dims) {
    for (int bits = 0; bits < 63; ++bits) {
      const Count extent = (Count{1} << bits) - 1;
      const Shape shapes[] = {{extent}, {extent, extent}, {extent, extent, extent}, {extent, extent, extent, extent}};
      const Shape& shape = shapes[dims - 1];
      if (is_small(shape)) {
        EXPECT_TRUE(product_of_positive(shape)) << dims << " extents of " << extent;
      }
    }
  }
  EXPECT_TRUE(is_small(Shape{Count{1} << 10, 3, 3, 7})) << "those of usual tensors are multiplied without a check";
}

}  // namespace
}  // namespace shardlings
