// Tensors and views through the public API: ownership, counting, and errors that name the place.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings {
namespace {

front::RunReport on_one_rank(const std::function<void(Rank&)>& body, Bytes capacity = Bytes(1 << 20)) {
  world::Options options;
  options.capacity = capacity;
  return world::run(options, body);
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

TEST(Tensor, CreatingAllocatesAndDroppingFrees) {
  const auto report = on_one_rank([](Rank& rank) {
    Tensor a = rank.zeros({2, 3}, Kind::parameter);
    { Tensor b = rank.zeros(10, Kind::activation, DType::bf16); }
    Tensor c = rank.zeros(5, Kind::other, DType::i32);
    a = std::move(c);
    require(!c && a.size() == 5, "a move empties its source");  // NOLINT(bugprone-use-after-move)
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 24 + 20);
  EXPECT_EQ(report.ranks[0].counters.live.value(), 0);
}

TEST(Tensor, SelfMoveKeepsTheTensor) {
  const auto report = on_one_rank([](Rank& rank) {
    Tensor a = rank.zeros(3, Kind::other);
    Tensor& same = a;
    a = std::move(same);
    require(rank.read(a.part({0, 1})) == 0, "still there");
  });
  EXPECT_FALSE(report.failure);
}

TEST(Tensor, ViewsShareTheMemory) {
  const auto report = on_one_rank([](Rank& rank) {
    Tensor t = rank.zeros({4, 3}, Kind::other);
    fill(t.rows_part({1, 3}), 2);
    fill(t.part({11, 12}), 7);
    require(rank.read(t.part({2, 3})) == 0 && rank.read(t.part({3, 4})) == 2, "rows 1 and 2");
    require(rank.read(t.reshaped(12).part({8, 9})) == 2 && rank.read(t.part({11, 12})) == 7, "the last one");
    require(t.rows_part({1, 3}).rows() == 2 && t.rows_part({1, 3}).cols() == 3, "shape of rows");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Tensor, AViewOfAFreedTensorIsAnError) {
  const auto report = on_one_rank([](Rank& rank) {
    View view;
    {
      Tensor t = rank.zeros(4, Kind::other);
      view = t;
    }
    Tensor next = rank.zeros(4, Kind::other);  // takes the same slot
    fill(view, 1);
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  EXPECT_EQ(report.failure->file, "tensor_test.cpp");
  EXPECT_NE(report.failure->message.find("has been freed already"), std::string::npos);
}

TEST(Tensor, PartsOutsideTheViewAreErrors) {
  for (const Range range : {Range{-1, 2}, Range{3, 2}, Range{0, 5}}) {
    const auto report = on_one_rank([range](Rank& rank) {
      Tensor t = rank.zeros(4, Kind::other);
      fill(t.part(range), 1);
    });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  }
}

TEST(Tensor, OutOfMemoryListsWhatIsAlive) {
  const auto report = on_one_rank(
      [](Rank& rank) {
        Tensor weights = rank.zeros(100, Kind::parameter);
        Tensor grads = rank.zeros(100, Kind::gradient);
        Tensor more = rank.zeros(100, Kind::activation);
      },
      Bytes(1000));
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::out_of_memory);
  for (const char* part : {"400 B more (activation)", "800 B of 1000 B", "parameter", "gradient", "tensor_test.cpp:"}) {
    EXPECT_NE(report.failure->message.find(part), std::string::npos) << part << "\n" << report.failure->message;
  }
}

TEST(Tensor, FreshMemoryIsNaNWhereAsked) {
  world::Options options;
  options.poison_empty = true;
  const auto report = world::run(options, [](Rank& rank) {
    const float value = rank.read(rank.empty(1, Kind::other));
    require(value != value, "not a number");
    require(rank.read(rank.zeros(1, Kind::other)) == 0, "zero");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Model, WithoutAPlanItSaysSo) {
  const auto report = on_one_rank([](Rank&) { Model().num_layers(); });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  EXPECT_NE(report.failure->message.find("tensor_test.cpp:"), std::string::npos) << report.failure->message;
  EXPECT_NE(report.failure->message.find(": this Model was default-constructed"), std::string::npos);
}

TEST(Tensor, EmptyTensorsAreFine) {
  const auto report = on_one_rank([](Rank& rank) {
    Tensor none = rank.zeros(0, Kind::other);
    Tensor rows = rank.zeros({0, 5}, Kind::other);
    fill(none, 1);
    fill(rows, 1);
    require(none.size() == 0 && rows.cols() == 5, "shapes");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

}  // namespace
}  // namespace shardlings
