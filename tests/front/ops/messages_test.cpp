// What a learner reads who passes the wrong thing, and what an operation leaves behind: labels, kinds, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/access.h"
#include "base/dtype.h"
#include "front/ops/on_rank.h"

namespace shardlings::ops_test {
namespace {

using testing::HasSubstr;

Tensor zeros(Rank& rank, Shape shape, DType dtype = DType::f32) {
  return rank.zeros(shape, Kind::other, dtype);
}

void expect_error(const std::function<void(Rank&)>& body, const char* sentence) {
  EXPECT_THAT(error_of(body), HasSubstr(sentence));
}

TEST(Messages, NameShapes) {
  expect_error(
      [](Rank& r) {
        matmul(zeros(r, {4, 8}), zeros(r, {16, 9}), nt);
      },
      "matmul (nt): a is (4, 8), b is (16, 9): the inner extents 8 and 9 differ");
  expect_error(
      [](Rank& r) {
        matmul_add(zeros(r, {4, 5}), zeros(r, {4, 8}), zeros(r, {8, 6}), nn);
      },
      "matmul_add (nn): c is (4, 5), but the product of a (4, 8) and b (8, 6) is (4, 6)");
  expect_error(
      [](Rank& r) {
        matmul_add(zeros(r, {6, 4}), zeros(r, {4, 8}), zeros(r, {8, 6}), nn);
      },
      "matmul_add (nn): c is (6, 4), but the product of a (4, 8) and b (8, 6) is (4, 6)");
  expect_error(
      [](Rank& r) {
        add(zeros(r, {4, 8}), zeros(r, {4, 9}));
      },
      "add: y is (4, 8), x is (4, 9): the sizes 32 and 36 differ");
  expect_error(
      [](Rank& r) {
        add_bias(zeros(r, {4, 8}), zeros(r, 4));
      },
      "add_bias: bias is (4), but must have 8 elements: one for each column of x");
  expect_error(
      [](Rank& r) {
        divide_rows(zeros(r, {4, 8}), zeros(r, 8));
      },
      "divide_rows: row is (8), but must have 4 elements: one for each row of x");
  expect_error(
      [](Rank& r) {
        scale_rows(zeros(r, {4, 8}), zeros(r, 5));
      },
      "scale_rows: row is (5), but must have 4 elements: one for each row of x");
  expect_error(
      [](Rank& r) {
        slice_cols(zeros(r, {4, 8}), {4, 9});
      },
      "slice_cols: columns [4, 9) are not inside x, which is (4, 8)");
  expect_error(
      [](Rank& r) {
        top_k(zeros(r, {4, 8}), 9);
      },
      "top_k: k is 9, but a row of x has 8");
  expect_error(
      [](Rank& r) {
        top_k(zeros(r, {4, 8}), 0);
      },
      "top_k: k is 0, but a row of x has 8");
  expect_error(
      [](Rank& r) {
        concat_cols({zeros(r, {4, 8}), zeros(r, {5, 8})});
      },
      "concat_cols: part 1 is (4, 8), part 2 is (5, 8): the numbers of rows 4 and 5 differ");
  expect_error(
      [](Rank& r) {
        attention(zeros(r, {4, 2, 24}), 3, nullptr);
      },
      "attention: 3 heads do not divide w = 8 (qkv is (4, 2, 24))");
  expect_error(
      [](Rank& r) {
        attention(zeros(r, {4, 24}), 2, nullptr);
      },
      "attention: qkv is (4, 24), but must be (s, b, 3 w)");
}

TEST(Messages, NameTypes) {
  expect_error([](Rank& r) { gelu(zeros(r, 4, DType::i32)); },
               "gelu: x is i32, but only f32 and bf16 can be computed with");
  expect_error([](Rank& r) { add(zeros(r, 4), zeros(r, 4, DType::bf16)); },
               "add: y is f32 and x is bf16: the types must be the same (see cast)");
  expect_error(
      [](Rank& r) {
        cross_entropy(zeros(r, {2, 4}), zeros(r, 2), 1, zeros(r, 1));
      },
      "cross_entropy: targets is f32, but must be i32");
  expect_error([](Rank& r) { adam(zeros(r, 4), zeros(r, 4, DType::i32), zeros(r, 4), zeros(r, 4), {}); },
               "adam: grad is i32, but only f32 and bf16 can be computed with");
  expect_error([](Rank& r) { adam(zeros(r, 4, DType::bf16), zeros(r, 4), zeros(r, 4), zeros(r, 4), {}); },
               "adam: w is bf16, but must be f32");
  expect_error([](Rank& r) { sgd(zeros(r, 4, DType::bf16), zeros(r, 4, DType::bf16), 1); },
               "sgd: w is bf16, but must be f32");
}

TEST(Messages, NameEmptyTensors) {
  expect_error([](Rank&) { gelu({}); }, ": gelu: the tensor is empty (moved from, or never allocated)");
  expect_error([](Rank& r) { add(zeros(r, 4), Tensor()); }, "add: x is empty (moved from, or never allocated)");
  expect_error([](Rank& r) { sgd(Tensor(), zeros(r, 4), 1); }, "sgd: w is empty (moved from, or never allocated)");
  expect_error(
      [](Rank& r) {
        ConstView stale;
        { stale = zeros(r, 4); }
        gelu(stale);
      },
      "gelu");
}

TEST(Messages, NameNumbersThatMakeNoSense) {
  expect_error(
      [](Rank& r) {
        cross_entropy(zeros(r, {2, 4}), zeros(r, 2, DType::i32), 0, zeros(r, 1));
      },
      "the loss is divided by 0 tokens");
  expect_error([](Rank& r) { adam(zeros(r, 4), zeros(r, 4), zeros(r, 4), zeros(r, 4), {.step = 0}); },
               "adam: step is 0, but counts from 1");
  expect_error([](Rank& r) { clip_factor(zeros(r, 1), 0); }, "clip_factor: the limit is 0");
}

TEST(Messages, RefuseOverlaps) {
  expect_error(
      [](Rank& r) {
        Tensor x = zeros(r, 8);
        add(x.part({0, 5}), x.part({1, 6}));
      },
      "add: y and x overlap in memory");
  expect_error(
      [](Rank& r) {
        Tensor x = zeros(r, {4, 4});
        matmul_add(x, x, x, nn);
      },
      "matmul_add (nn): c and a overlap in memory");
  on_rank([](Rank& r) {
    Tensor x = put(r, 2, {1, 2});
    add(x, x);  // the very same elements: each is read before it is written
    EXPECT_EQ(get(x), (Floats{2, 4}));
  });
}

TEST(Messages, RefuseTensorsOfTwoRanks) {
  world::Options options;
  options.ranks = 2;
  std::array<ConstView, 2> views;
  const auto report = world::run(options, [&](Rank& rank) {
    const Tensor mine = zeros(rank, 4);
    views[static_cast<std::size_t>(rank.id())] = mine;
    rank.world().barrier();
    if (rank.id() == 0) {
      EXPECT_THROW(matmul(mine, views[1], nt), InvalidArgument);
    }
    rank.world().barrier();
  });
  EXPECT_FALSE(report.failure);
}

TEST(Messages, CarryTheLearnersLine) {
  std::string message;
  int line = 0;
  on_rank([&](Rank& rank) {
    try {
      line = __LINE__ + 1;
      gelu(zeros(rank, 4, DType::i32));
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
  });
  EXPECT_THAT(message, HasSubstr("messages_test.cpp:" + std::to_string(line)));
}

TEST(Results, BelongToTheMicroBatchOfTheirInput) {
  const auto report = on_rank([](Rank& rank) {
    Tensor data = zeros(rank, {4, 4});
    const ConstView x = detail::Access::labelled(ConstView(data), 3);
    Tensor y = gelu(x);
    Tensor z = matmul(y, y, nt);
    add(z, data);
    Tensor copied = zeros(rank, {4, 4});
    copy(copied, z);
    gelu(copied);
    Tensor grad = rank.zeros({4, 4}, Kind::gradient);
    matmul_add(grad, z, z, tn);
    scale(grad, 2);
  });
  std::vector<int> micros;
  for (const front::Event& event : report.ranks[0].trace.events) micros.push_back(event.label.micro);
  // gelu, matmul, add, copy, gelu, matmul_add; gradients outlive a micro-batch.
  EXPECT_EQ(micros, (std::vector<int>{3, 3, 3, 3, 3, 3, -1}));
}

TEST(Results, HaveTheirKindAndAreCounted) {
  const auto report = on_rank([](Rank& rank) {
    const Tensor w = rank.zeros({8, 8}, Kind::parameter);
    const Tensor copied = clone(w);
    const Tensor x = rank.zeros({2, 3, 8}, Kind::activation);
    const Tensor y = matmul(x, w, nt);
    EXPECT_EQ(y.shape(), (Shape{2, 3, 8}));
  });
  const front::Counters& counters = report.ranks[0].counters;
  EXPECT_EQ(counters.peak_by_kind[static_cast<std::size_t>(Kind::parameter)], Bytes(2 * 8 * 8 * 4));
  EXPECT_EQ(counters.peak_by_kind[static_cast<std::size_t>(Kind::activation)], Bytes(2 * 6 * 8 * 4));
  EXPECT_EQ(counters.flops, Flops(2 * 6 * 8 * 8));
  EXPECT_EQ(counters.operations, 2);
}

TEST(Results, FreeWhatTheyUseUp) {
  const auto report = on_rank([](Rank& rank) {
    const Tensor qkv = rank.zeros({4, 1, 12}, Kind::activation);
    Tensor inner;
    const Tensor y = attention(qkv, 1, &inner);
    { const Tensor grad = attention_backward(qkv, 1, std::move(inner), y); }
    Tensor loss = rank.zeros(1, Kind::other);
    Tensor logits =
        cross_entropy(rank.zeros({2, 4}, Kind::activation), rank.zeros(2, Kind::other, DType::i32), 1, loss);
    logits = {};
    EXPECT_FALSE(logits);
  });
  EXPECT_EQ(report.ranks[0].counters.live, Bytes(0));
}

}  // namespace
}  // namespace shardlings::ops_test
