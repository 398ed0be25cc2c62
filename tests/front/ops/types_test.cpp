// bf16 and i32: conversions, and that every operation on bf16 computes in f32 and rounds once.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "front/ops/plain.h"
#include "support/test_device.h"

namespace shardlings::ops_test {
namespace {

constexpr double kHalfUlp = 1.0 / 256;  // of bf16's 8 significant bits

/// Rounds by comparing the two neighbours: another way than the kernel's.
float nearest_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto low = std::bit_cast<float>(bits & 0xFFFF0000U);
  const auto high = std::bit_cast<float>((bits & 0xFFFF0000U) + 0x10000U);
  const double below = std::abs(static_cast<double>(x) - static_cast<double>(low));
  const double above = std::abs(static_cast<double>(high) - static_cast<double>(x));
  if (below != above) return below < above ? low : high;
  return (bits & 0x10000U) == 0 ? low : high;
}

TEST(Bf16, RoundsToNearestEven) {
  on_rank([](Rank& rank) {
    Source source(1);
    Doubles x = source.numbers(2000, 100.0);
    for (const std::uint32_t bits : {0x3F808000U, 0x3F818000U, 0x3F807FFFU, 0x3F808001U, 0x80018000U, 0x00008000U}) {
      x.push_back(static_cast<double>(std::bit_cast<float>(bits)));  // ties, and their neighbours
    }
    const Floats y = get(cast(put(rank, static_cast<Count>(x.size()), x), DType::bf16));
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], nearest_bf16(static_cast<float>(x[i]))) << x[i];
  });
}

TEST(Bf16, KeepsWhatIsNotFinite) {
  on_rank([](Rank& rank) {
    const double subtle_nan = static_cast<double>(std::bit_cast<float>(0x7F800001U));  // its payload is rounded away
    const Floats y = get(cast(put(rank, 5, {INFINITY, -INFINITY, NAN, subtle_nan, 3.4e38}), DType::bf16));
    EXPECT_EQ(y[0], INFINITY);
    EXPECT_EQ(y[1], -INFINITY);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_EQ(y[4], INFINITY) << "beyond the largest bf16";
  });
}

TEST(Integers, ConvertTowardsZero) {
  on_rank([](Rank& rank) {
    const Tensor i = cast(put(rank, 7, {1.9, -1.9, 0.5, 3e9, -3e9, NAN, 7}), DType::i32);
    EXPECT_EQ(i.dtype(), DType::i32);
    EXPECT_EQ(get(i), (Floats{1, -1, 0, 2147483648.0F, -2147483648.0F, 0, 7}));
    Tensor sum = put_ids(rank, 2, {5, -5});
    add(sum, put_ids(rank, 2, {16777217, 1}));  // not exact in f32
    add(sum, put_ids(rank, 2, {-16777217, 1}));
    EXPECT_EQ(get(sum), (Floats{5, -3}));
    fill(sum, -2);
    EXPECT_EQ(get(sum), (Floats{-2, -2}));
  });
}

/// Inputs that are exact in bf16, so that the only difference between the types is the rounding of results.
class Bf16Ops : public testing::Test {
 protected:
  Doubles exact(Count n) {
    Doubles x = source_.numbers(n);
    for (double& v : x) v = static_cast<double>(nearest_bf16(static_cast<float>(v)));
    return x;
  }
  /// f on bf16 inputs must be f on f32 inputs, rounded once.
  template <class F>
  void same_but_rounded(Rank& rank, const Shape& shape, F f, const char* what) {
    const Doubles x = exact(shape.size());
    const Floats want = get(cast(f(put(rank, shape, x)), DType::bf16));
    const Tensor y = f(put(rank, shape, x, DType::bf16));
    EXPECT_EQ(y.dtype(), DType::bf16) << what;
    if (support::test_device().own_arithmetic) {
      // Intermediate results may be bf16, too, as those of attention are that are kept for its gradient.
      expect_close(get(y), Doubles(want.begin(), want.end()), 2 * kHalfUlp, what);
    } else {
      EXPECT_EQ(get(y), want) << what;
    }
  }
  Source source_{11};
};

TEST_F(Bf16Ops, RoundOnce) {
  on_rank([&](Rank& rank) {
    const Shape shape{5, 19};
    same_but_rounded(
        rank, shape, [](ConstView x) { return gelu(x); }, "gelu");
    same_but_rounded(
        rank, shape, [](ConstView x) { return relu(x); }, "relu");
    same_but_rounded(
        rank, shape, [](ConstView x) { return gelu_backward(x, x); }, "gelu_backward");
    same_but_rounded(
        rank, shape, [](ConstView x) { return relu_backward(x, x); }, "relu_backward");
    same_but_rounded(
        rank, shape, [](ConstView x) { return softmax(x); }, "softmax");
    same_but_rounded(
        rank, shape, [](ConstView x) { return softmax_backward(x, x); }, "softmax_backward");
    same_but_rounded(
        rank, shape, [](ConstView x) { return row_max(x); }, "row_max");
    same_but_rounded(
        rank, shape, [](ConstView x) { return row_sum(x); }, "row_sum");
    same_but_rounded(
        rank, shape, [](ConstView x) { return matmul(x, x, nt); }, "matmul");
    same_but_rounded(
        rank, shape, [](ConstView x) { return matmul(x, x, tn); }, "matmul");
    same_but_rounded(
        rank, shape,
        [](ConstView x) {
          return slice_cols(x, {3, 7});
        },
        "slice_cols");
    same_but_rounded(
        rank, shape,
        [](ConstView x) {
          return concat_cols({x, x});
        },
        "concat_cols");
    same_but_rounded(
        rank, {7, 2, 12}, [](ConstView x) { return attention(x, 2, nullptr); }, "attention");
    const auto normalized = [](ConstView x) {
      return layer_norm(x, x.part({0, x.cols()}), x.part({x.cols(), 2 * x.cols()}), nullptr);
    };
    same_but_rounded(rank, shape, normalized, "layer_norm");
    const auto in_place = [](ConstView x) {
      Tensor y = clone(x);
      add(y, x);
      return y;
    };
    same_but_rounded(rank, shape, in_place, "add");
  });
}

TEST_F(Bf16Ops, GradientsMayBeKeptInF32) {
  on_rank([&](Rank& rank) {
    const Count rows = 9, cols = 6;
    const Doubles x = exact(rows * cols);
    const Tensor wide = put(rank, {rows, cols}, x);
    const Tensor narrow = put(rank, {rows, cols}, x, DType::bf16);
    const auto both = [&](auto f, Shape shape, const char* what) {
      Tensor want = rank.zeros(shape, Kind::gradient);
      Tensor got = rank.zeros(shape, Kind::gradient);
      Tensor rounded = rank.zeros(shape, Kind::gradient, DType::bf16);
      f(View(want), wide);
      f(View(got), narrow);
      f(View(rounded), narrow);
      EXPECT_EQ(get(got), get(want)) << what;
      EXPECT_EQ(get(rounded), get(cast(want, DType::bf16))) << what;
    };
    const Tensor ids = put_ids(rank, rows, {0, 1, 1, 2, 5, 1, 3, 1, 0});
    both([](View sum, ConstView y) { matmul_add(sum, y, y, tn); }, {cols, cols}, "matmul_add");
    both([](View sum, ConstView y) { sum_rows_add(sum, y); }, cols, "sum_rows_add");
    both([&](View sum, ConstView y) { embedding_backward_add(sum, ids, {0, 4}, y); }, {4, cols}, "embedding");
    both([](View sum, ConstView y) { sum_positions_add(sum, y.reshaped({3, 3, 6})); }, {3, cols}, "positions");
  });
}

TEST_F(Bf16Ops, AttentionAndNormBackwardAreClose) {
  on_rank([&](Rank& rank) {
    const Doubles qkv = exact(6 * 2 * 24);
    const Doubles g = exact(6 * 2 * 8);
    const auto backward = [&](DType dtype) {
      const Tensor x = put(rank, {6, 2, 24}, qkv, dtype);
      Tensor inner;
      const Tensor y = attention(x, 2, &inner);
      return get(attention_backward(x, 2, std::move(inner), put(rank, {6, 2, 8}, g, dtype)));
    };
    const Floats want = backward(DType::f32);
    expect_close(backward(DType::bf16), Doubles(want.begin(), want.end()), 3 * kHalfUlp, "attention_backward");
  });
}

}  // namespace
}  // namespace shardlings::ops_test
