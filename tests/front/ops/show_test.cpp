// show(): what it sees of a tensor, and that nothing else of the run knows of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "api/access.h"
#include "front/ops/on_rank.h"

namespace shardlings::ops_test {
namespace {

using front::look_at;
using front::Shown;
using front::ShownRow;
using front::Shows;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Shown seen(const Shape& shape, const std::vector<float>& elements) {
  Shown shown;
  shown.shape = shape;
  look_at(elements, shown);
  return shown;
}

/// What a rank has shown that does this.
Shows shows_of(const std::function<void(Rank&)>& body) {
  return on_rank(body).ranks.at(0).shows;
}

TEST(LookAt, HasTheStatisticsOfAllElements) {
  const Shown shown = seen({2, 2}, {3, -1, 0, 4});
  EXPECT_EQ(shown.min, -1);
  EXPECT_EQ(shown.max, 4);
  EXPECT_EQ(shown.mean, 1.5);
  EXPECT_EQ(shown.norm, std::sqrt(26.0));
  EXPECT_EQ(shown.finite(), 4);
}

TEST(LookAt, CountsWhatIsNotFiniteAndLeavesItOutOfTheRest) {
  const Shown shown = seen(6, {kNan, -2, kInfinity, -kInfinity, kNan, -1});
  EXPECT_EQ(shown.nan, 2);
  EXPECT_EQ(shown.infinite, 2);
  EXPECT_EQ(shown.min, -2);
  EXPECT_EQ(shown.max, -1);
  EXPECT_EQ(shown.mean, -1.5);
  EXPECT_EQ(seen(2, {kNan, kNan}).finite(), 0);
}

TEST(LookAt, TakesTheFirstAndTheLastRowsAndColumns) {
  std::vector<float> elements(5 * 9);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  const std::vector<ShownRow> rows = seen({5, 1, 9}, elements).rows;
  EXPECT_THAT(rows, ElementsAre(ShownRow{0, {0, 1, 2, 3, 7, 8}}, ShownRow{1, {9, 10, 11, 12, 16, 17}},
                                ShownRow{4, {36, 37, 38, 39, 43, 44}}));
}

TEST(LookAt, TakesAllOfASmallTensor) {
  const std::vector<float> elements(18, 1);
  EXPECT_EQ(seen({3, 6}, elements).rows.size(), 3U);
  EXPECT_EQ(seen({3, 6}, elements).rows[2], (ShownRow{2, {1, 1, 1, 1, 1, 1}}));
  EXPECT_THAT(seen({0, 6}, {}).rows, IsEmpty());
}

TEST(LookAt, FindsNanEqualToNan) {
  EXPECT_EQ(seen(2, {kNan, 1}), seen(2, {kNan, 1}));
  EXPECT_NE(seen(2, {kNan, 1}), seen(2, {1, kNan}));
}

TEST(Show, SaysWhatItIsAndWhere) {
  int line = 0;
  const Shows shows = shows_of([&](Rank& rank) {
    const Tensor x = put(rank, {2, 3}, {1, 2, 3, 4, 5, 6}, DType::bf16);
    line = __LINE__ + 1;
    show(x, "the input");
    show(x.rows_part({1, 2}));
  });
  ASSERT_EQ(shows.kept.size(), 2U);
  const Shown& whole = shows.kept[0];
  EXPECT_EQ(whole.label, "the input");
  EXPECT_EQ(whole.file, "show_test.cpp");
  EXPECT_EQ(whole.line, line);
  EXPECT_EQ(whole.shape, (Shape{2, 3}));
  EXPECT_EQ(whole.dtype, DType::bf16);
  EXPECT_EQ(whole.max, 6);
  EXPECT_THAT(shows.kept[1].rows, ElementsAre(ShownRow{0, {4, 5, 6}})) << "of a view its own elements";
  EXPECT_EQ(shows.kept[1].label, "");
}

TEST(Show, SeesTheHostsMemoryToo) {
  const Shows shows = shows_of([](Rank& rank) {
    Tensor host = rank.host_zeros({2, 2}, Kind::optimizer);
    show(host);
  });
  ASSERT_EQ(shows.kept.size(), 1U);
  EXPECT_EQ(shows.kept[0].memory, front::Memory::host);
  EXPECT_EQ(shows.kept[0].kind, Kind::optimizer);
}

TEST(Show, AnEmptyTensorIsEmpty) {
  const Shows shows = shows_of([](Rank& rank) {
    const detail::PortOfThisThread here(*detail::Access::port(rank));
    Tensor x = rank.zeros(4, Kind::other);
    const Tensor moved = std::move(x);
    show(x, "moved from");  // NOLINT: that is what is tested
    show({}, "never there");
    show(rank.zeros({0, 3}, Kind::other), "of no element");
  });
  ASSERT_EQ(shows.kept.size(), 3U);
  EXPECT_FALSE(shows.kept[0].there);
  EXPECT_FALSE(shows.kept[1].there);
  EXPECT_TRUE(shows.kept[2].there);
  EXPECT_EQ(shows.kept[2].shape, (Shape{0, 3}));
}

TEST(Show, OutsideOfARunThereIsNoReport) {
  EXPECT_NO_THROW(show(Tensor(), "nobody's"));
}

TEST(Show, OfAFreedTensorIsAnError) {
  const auto body = [](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other);
    const ConstView view = x;
    x = {};
    show(view);
  };
  EXPECT_THAT(error_of(body), HasSubstr("show: tensor argument 1 has been freed already"));
}

TEST(Show, KeepsTheFirstOnesAndCountsTheOthers) {
  const Shows shows = shows_of([](Rank& rank) {
    Tensor x = rank.zeros(1, Kind::other);
    for (int i = 0; i < 40; ++i) {
      fill(x, static_cast<float>(i));
      show(x);
    }
  });
  ASSERT_EQ(shows.kept.size(), Shows::kMost);
  EXPECT_EQ(shows.kept.back().max, 31);
  EXPECT_EQ(shows.left_out, 8);
}

TEST(Show, KeepsTheBeginningOfALongLabel) {
  const std::string label(200, 'x');
  const Shows shows = shows_of([&](Rank& rank) {
    show(rank.zeros(1, Kind::other), label.c_str());
    show(rank.zeros(1, Kind::other), nullptr);
  });
  EXPECT_EQ(shows.kept.at(0).label, std::string(Shown::kLongestLabel, 'x'));
  EXPECT_EQ(shows.kept.at(1).label, "");
}

}  // namespace
}  // namespace shardlings::ops_test
