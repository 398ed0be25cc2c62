// Tensors and views through the public API: ownership, counting, and errors that name the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "base/poison.h"
#include "base/text.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings {
namespace {

using ::testing::HasSubstr;

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

constexpr Count kLargest = std::numeric_limits<Count>::max();

TEST(Shape, ProductsDoNotWrap) {
  static_assert(Shape{Count{1} << 32, Count{1} << 32}.size() == kLargest, "not 0");
  static_assert(Shape{Count{1} << 32, (Count{1} << 31) + 1}.size() == kLargest, "not negative");
  static_assert(Shape{Count{1} << 32, Count{1} << 32, 3}.rows() == kLargest);
  static_assert(Shape{Count{1} << 40, Count{1} << 40, 0}.size() == 0);
  EXPECT_EQ((Shape{3, 0, kLargest}).size(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).size(), 24);
}

/// What a rank hears of this; every refusal has its line.
std::string refusal(const std::function<void(Rank&)>& body) {
  const auto report = on_one_rank(body);
  if (!report.failure) return "";
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument) << report.failure->message;
  EXPECT_EQ(report.failure->message.rfind("tensor_test.cpp:", 0), 0U) << report.failure->message;
  return report.failure->message;
}

TEST(Tensor, ImpossibleShapesAreRefused) {
  const Count large = Count{1} << 32;
  for (const Shape& shape : {Shape((Count{1} << 62) + 1), Shape(kLargest), Shape{large, large}, Shape{large, large, 0},
                             Shape{0, kLargest, 2}, Shape{large, large, large, large}, Shape(-1), Shape{-2, -3}}) {
    const std::string refused = "a tensor cannot have the shape " + to_text(shape);
    EXPECT_THAT(refusal([&](Rank& rank) { rank.zeros(shape, Kind::other); }), HasSubstr(refused));
    EXPECT_THAT(refusal([&](Rank& rank) { rank.empty(shape, Kind::other, DType::bf16); }), HasSubstr(refused));
    EXPECT_THAT(refusal([&](Rank& rank) { rank.host_zeros(shape, Kind::other); }), HasSubstr(refused));
  }
}

TEST(Tensor, WhyAShapeIsImpossibleIsSaid) {
  const auto why = [](const Shape& shape) { return refusal([&](Rank& rank) { rank.zeros(shape, Kind::other); }); };
  EXPECT_THAT(why({-2, 3}), testing::EndsWith("(-2, 3): an extent is negative"));
  EXPECT_THAT(why(kLargest), testing::EndsWith(": it has more elements than any memory holds"));
}

TEST(Tensor, ViewsOfImpossibleShapesAreRefused) {
  const Count large = Count{1} << 32;
  const auto reshaped = [](Count size, const Shape& shape) {
    return refusal([&](Rank& rank) { rank.zeros(size, Kind::other).reshaped(shape); });
  };
  EXPECT_THAT(reshaped(0, {large, large}), HasSubstr("cannot have the shape")) << "its product wraps to 0";
  EXPECT_THAT(reshaped(0, {large, large, 0}), HasSubstr("cannot have the shape"));
  EXPECT_THAT(reshaped(6, {-2, -3}), HasSubstr("cannot have the shape")) << "its product is 6";
  EXPECT_THAT(reshaped(6, {4, 2}), HasSubstr("6 elements of shape (6) do not make the shape (4, 2)"));
}

TEST(Tensor, RangesThatWrapAreRefused) {
  constexpr Count kSmallest = std::numeric_limits<Count>::min();
  for (const Range range : {Range{1, kLargest}, Range{kSmallest, kLargest}, Range{kLargest, kSmallest},
                            Range{kLargest, kLargest}, Range{kSmallest, 2}}) {
    EXPECT_NE(refusal([&](Rank& rank) { rank.zeros({4, 3}, Kind::other).part(range); }), "");
    EXPECT_NE(refusal([&](Rank& rank) { rank.zeros({4, 3}, Kind::other).rows_part(range); }), "");
    EXPECT_NE(refusal([&](Rank& rank) { slice_cols(rank.zeros({4, 3}, Kind::other), range); }), "");
    EXPECT_NE(refusal([&](Rank& rank) {
                const Tensor ids = rank.zeros(4, Kind::other, DType::i32);
                pick(rank.zeros({4, 3}, Kind::other), ids, range);
              }),
              "");
  }
}

TEST(Group, PartsOfRanksThatAreNotThereAreRefused) {
  EXPECT_THAT(refusal([](Rank& rank) { rank.world().part(12, 1); }),
              HasSubstr("part(12, 1): the group has ranks 0 to 0"));
  EXPECT_THAT(refusal([](Rank& rank) { rank.world().part(kLargest, std::numeric_limits<int>::max()); }),
              HasSubstr("the group has ranks 0 to 0"));
  EXPECT_THAT(refusal([](Rank& rank) { rank.world().part(12, kNobody); }), HasSubstr("the group has ranks 0 to 0"));
  EXPECT_THAT(refusal([](Rank& rank) { rank.world().mine(-1); }), HasSubstr("no such number of elements"));
  EXPECT_EQ(Group().part(12, 5), Range()) << "of an empty group";
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

TEST(Tensor, OutOfHostMemoryListsWhatIsAliveThere) {
  world::Options options;
  options.host_capacity = Bytes(1000);
  const auto report = world::run(options, [](Rank& rank) {
    Tensor device = rank.zeros(10, Kind::parameter);
    Tensor master = rank.host_zeros(200, Kind::optimizer);
    rank.host_empty(100, Kind::gradient);
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::out_of_memory);
  EXPECT_THAT(report.failure->message,
              AllOf(HasSubstr("out of host memory on rank 0: 400 B more (gradient) do not fit; 800 B of 1000 B"),
                    HasSubstr("optimizer  1 tensor from tensor_test.cpp:"), Not(HasSubstr("parameter"))));
}

/// A device of a machine that has no memory left beside what the first allocation takes.
class SmallDevice final : public back::Device {
 public:
  void* allocate(Bytes size) override {
    if (++allocations_ > 1) throw std::bad_alloc();
    return cpu_->allocate(size);
  }
  void release(void* memory, Bytes size) noexcept override { cpu_->release(memory, size); }
  void* allocate_host(Bytes size) override { return cpu_->allocate_host(size); }
  void release_host(void* memory, Bytes size) noexcept override { cpu_->release_host(memory, size); }
  void launch(const back::Kernel& kernel, back::DeviceLane lane) override { cpu_->launch(kernel, lane); }
  void upload(void* to, const void* host, Bytes size) override { cpu_->upload(to, host, size); }
  void download(void* host, const void* from, Bytes size) override { cpu_->download(host, from, size); }
  back::DeviceEvent record(back::DeviceLane lane) override { return cpu_->record(lane); }
  void wait(back::DeviceLane lane, back::DeviceEvent event) override { cpu_->wait(lane, event); }
  void synchronize() override { cpu_->synchronize(); }

 private:
  std::unique_ptr<back::Device> cpu_ = back::make_cpu_device();
  int allocations_ = 0;
};

TEST(Tensor, ThatTheMachineHasNoMemoryLeftListsWhatIsAliveToo) {
  world::Options options;
  options.ranks = 3;
  options.make_device = [](int) { return std::make_unique<SmallDevice>(); };
  const auto report = world::run(options, [](Rank& rank) {
    Tensor weights = rank.zeros(100, Kind::parameter);
    rank.empty(50, Kind::gradient);
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::out_of_memory);
  EXPECT_THAT(report.failure->message,
              AllOf(HasSubstr("out of memory on rank 0: 200 B more (gradient) would fit; 400 B of"),
                    HasSubstr("400 B  parameter  1 tensor from tensor_test.cpp:"),
                    HasSubstr("the machine has no memory left, which all ranks of a run share")));
}

TEST(Tensor, FreshMemoryIsNaNWhereAsked) {
  world::Options options;
  options.poison_empty = true;
  const auto report = world::run(options, [](Rank& rank) {
    const float value = rank.read(rank.empty(1, Kind::other));
    require(value != value && origin_of_nan(value) == NanOrigin::poison, "not a number, and known");
    require(rank.read(rank.zeros(1, Kind::other)) == 0, "zero");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Tensor, WhatIsComputedFromFreshMemoryCanBeToldFromNumbersBeyondAllBounds) {
  world::Options options;
  options.poison_empty = true;
  const auto report = world::run(options, [](Rank& rank) {
    const Tensor fresh = rank.empty({4, 4}, Kind::other);
    Tensor ones = rank.zeros({4, 4}, Kind::other), large = rank.zeros({4, 4}, Kind::other);
    fill(ones, 1);
    fill(large, 1e38F);
    axpy(ones, -0.5F, gelu(matmul(fresh, ones, nn)));
    require(origin_of_nan(rank.read(ones.part({0, 1}))) == NanOrigin::poison, "never written");
    scale(large, 1e10F);
    axpy(large, -1, clone(large));
    const float difference = rank.read(large.part({0, 1}));
    require(difference != difference && origin_of_nan(difference) != NanOrigin::poison, "infinity - infinity");
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
