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

}  // namespace
}  // namespace shardlings
