// What is packed is what is unpacked, under the same names.
#include "api/arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/access.h"

namespace shardlings::detail {
namespace {

/// Puts a call together as Request does, without a Port.
struct Packer {
  Call call;
  std::vector<std::string> texts;
  int numbers = 0, scalars = 0;

  void add_tensor(const ConstView& view) { call.tensor[call.num_tensors++] = Access::ref(view); }
  void add_tensor(const MadeLike& like) { call.tensor[call.num_tensors++].shape = like.shape; }
  void add_tensor(std::initializer_list<ConstView> parts) {
    for (const ConstView& part : parts) add_tensor(part);
  }
  void add_number(std::int64_t number) { call.number[numbers++] = number; }
  void add_scalar(float scalar) { call.scalar[scalars++] = scalar; }
  void add_in_group(std::uint32_t id) { call.group = id; }
  void add_of_model(std::uint32_t id) { call.model = id; }
  void add_work(std::uint64_t id) { call.id = id; }
  void add_saved(std::uint64_t id) { call.id = id; }
  void add_lent(std::uint64_t id) { call.id = id; }
  void add_text(const char* text) { texts.emplace_back(text); }
};

template <class Args>
Packer packed(const Args& args) {
  Packer packer;
  packer.call.verb = Args::kVerb;
  pack(packer, args);
  return packer;
}

View view(std::uint32_t storage) {
  Ref ref;
  ref.storage = storage;
  return Access::view(nullptr, ref);
}

TEST(Shapes, OfTooManyExtentsAreRefusedWhereTheyAreWritten) {
  try {
    const Shape shape{1, 2, 3, 4, 5};
    FAIL() << "it has " << shape.rank() << " extents";
  } catch (const InvalidArgument& error) {
    const int line = __LINE__ - 3;
    EXPECT_EQ(error.where().line, line);
    EXPECT_EQ(error.what(),
              "arguments_test.cpp:" + std::to_string(line) +
                  ": the shape (1, 2, 3, 4, 5) has 5 extents, and there may be at most 4: multiply some of "
                  "them into one");
  }
  EXPECT_EQ((Shape{1, 2, 3, 4}).rank(), 4);
}

TEST(Arguments, OfAdamComeBack) {
  const Call call = packed(args::adam{.w = view(1),
                                      .grad = view(2),
                                      .m = view(3),
                                      .v = view(4),
                                      .factor = view(5),
                                      .skip = view(6),
                                      .step = 7,
                                      .lr = 0.5F,
                                      .beta1 = 0.25F,
                                      .beta2 = 0.125F,
                                      .eps = 2,
                                      .weight_decay = 3,
                                      .after = 9})
                        .call;
  const unpacked::adam given(call);
  EXPECT_EQ(call.tensor[given.w.index].storage, 1U);
  EXPECT_EQ(call.tensor[given.grad.index].storage, 2U);
  EXPECT_EQ(call.tensor[given.m.index].storage, 3U);
  EXPECT_EQ(call.tensor[given.v.index].storage, 4U);
  EXPECT_EQ(call.tensor[given.factor.index].storage, 5U);
  EXPECT_EQ(call.tensor[given.skip.index].storage, 6U);
  EXPECT_EQ(call.num_tensors, 6);
  EXPECT_EQ(given.step, 7);
  EXPECT_EQ(given.lr, 0.5F);
  EXPECT_EQ(given.beta1, 0.25F);
  EXPECT_EQ(given.beta2, 0.125F);
  EXPECT_EQ(given.eps, 2);
  EXPECT_EQ(given.weight_decay, 3);
  EXPECT_EQ(given.after, 9U);
}

TEST(Arguments, KeepTheirTypes) {
  const Call call =
      packed(args::random_normal{.y = view(1), .seed = ~std::uint64_t{0}, .first = -5, .deviation = 1}).call;
  EXPECT_EQ(unpacked::random_normal(call).seed, ~std::uint64_t{0});
  EXPECT_EQ(unpacked::random_normal(call).first, -5);
  const Call product = packed(args::matmul{.a = view(1), .b = view(2), .trans = Trans::tn}).call;
  EXPECT_EQ(unpacked::matmul(product).trans, Trans::tn);
  const Call made =
      packed(args::allocate{.result = {{2, 3}, DType::f32}, .kind = Kind::buffer, .zeros = false, .on_host = true})
          .call;
  EXPECT_EQ(unpacked::allocate(made).kind, Kind::buffer);
  EXPECT_FALSE(unpacked::allocate(made).zeros);
  EXPECT_TRUE(unpacked::allocate(made).on_host);
  EXPECT_EQ(made.tensor[0].shape, Shape({2, 3}));
}

TEST(Arguments, RangesTakeTwoPlaces) {
  const Call call = packed(args::add_at{.x = view(1), .ids = view(2), .columns = {3, 8}, .value = 0.5F}).call;
  EXPECT_EQ(unpacked::add_at(call).columns, (Range{3, 8}));
  EXPECT_EQ(unpacked::add_at(call).value, 0.5F);
}

TEST(Arguments, OfGroupsAndModels) {
  const Packer split = packed(args::split{.group = 4, .color = -1, .key = 6, .name = "dp"});
  EXPECT_EQ(unpacked::split(split.call).group, 4U);
  EXPECT_EQ(unpacked::split(split.call).color, -1);
  EXPECT_EQ(unpacked::split(split.call).key, 6);
  EXPECT_EQ(split.texts, std::vector<std::string>{"dp"});
  const Call forward =
      packed(args::layer_forward{.model = 2, .weights = view(1), .x = view(2), .layer = 3, .saves = true}).call;
  EXPECT_EQ(unpacked::layer_forward(forward).model, 2U);
  EXPECT_EQ(unpacked::layer_forward(forward).layer, 3);
  EXPECT_TRUE(unpacked::layer_forward(forward).saves);
}

}  // namespace
}  // namespace shardlings::detail
