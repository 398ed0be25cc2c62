// Operations without a gradient: their values over many shapes, against plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "front/ops/plain.h"

namespace shardlings::ops_test {
namespace {

constexpr double kExact = 1e-7;
constexpr double kRounded = 2e-6;

/// Many random shapes, with 1, odd sizes and no rows among them.
class Values : public testing::TestWithParam<int> {
 protected:
  Source source_{static_cast<std::uint64_t>(GetParam())};
  Count rows_ = GetParam() % 7 == 0 ? 0 : source_.integer(1, 9);
  Count cols_ = GetParam() % 5 == 0 ? 1 : source_.integer(1, 70);
  Shape shape_{rows_, cols_};
  Doubles x_ = source_.numbers(rows_ * cols_, 2.0);
  Doubles z_ = source_.numbers(rows_ * cols_, 2.0);

  double x(Count r, Count c) const { return x_[plain::at(r * cols_ + c)]; }
  /// Element (r, c) of a result from f(r, c).
  template <class F>
  Doubles each(F f) const {
    Doubles y;
    for (Count r = 0; r < rows_; ++r) {
      for (Count c = 0; c < cols_; ++c) y.push_back(f(r, c));
    }
    return y;
  }
  template <class F>
  Doubles each_row(F f) const {
    Doubles y;
    for (Count r = 0; r < rows_; ++r) y.push_back(f(r));
    return y;
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, Values, testing::Range(0, 24));

TEST_P(Values, Elementwise) {
  on_rank([&](Rank& rank) {
    const Tensor z = put(rank, shape_, z_);
    const auto expect = [&](ConstView y, double of_x, double of_z, const char* what) {
      Doubles want(x_.size());
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = of_x * x_[i] + of_z * z_[i];
      expect_close(get(y), want, kExact, what);
    };
    Tensor y = put(rank, shape_, x_);
    add(y, z);
    expect(y, 1, 1, "add");
    axpy(y, -2.5F, z);
    expect(y, 1, -1.5, "axpy");
    scale(y, 2);
    expect(y, 2, -3, "scale");
    scale_by(y, put(rank, 1, {0.25}));
    expect(y, 0.5, -0.75, "scale_by");
    copy(y, z);
    expect(y, 0, 1, "copy");
    fill(y, 3);
    expect_close(get(y), Doubles(x_.size(), 3.0), 0, "fill");
    cast_into(y, z);
    expect(y, 0, 1, "cast_into");
    EXPECT_EQ(get(clone(z)), get(z));
    EXPECT_EQ(clone(z).shape(), shape_);
  });
}

TEST_P(Values, RowsAndColumns) {
  on_rank([&](Rank& rank) {
    const Tensor input = put(rank, shape_, x_);
    const Doubles tops = each_row([&](Count r) {
      double top = x(r, 0);
      for (Count c = 1; c < cols_; ++c) top = std::max(top, x(r, c));
      return top;
    });
    const Tensor top = row_max(input);
    EXPECT_EQ(top.shape(), Shape(rows_));
    expect_close(get(top), tops, 0, "row_max");
    Tensor e = clone(input);
    exp_minus_row(e, top);
    const auto exps = each([&](Count r, Count c) { return std::exp(x(r, c) - tops[plain::at(r)]); });
    expect_close(get(e), exps, kExact, "exp_minus_row");
    const Tensor sum = row_sum(e);
    const Doubles sums = each_row([&](Count r) {
      double total = 0;
      for (Count c = 0; c < cols_; ++c) total += exps[plain::at(r * cols_ + c)];
      return total;
    });
    expect_close(get(sum), sums, kRounded, "row_sum");
    divide_rows(e, sum);
    expect_close(get(e), plain::softmax(x_, rows_, cols_), kRounded, "divide_rows");
    scale_rows(e, sum);
    expect_close(get(e), exps, kRounded, "scale_rows");
  });
}

TEST_P(Values, PickAndAddAt) {
  on_rank([&](Rank& rank) {
    const Range columns{5, 5 + cols_};
    const std::vector<int> ids = source_.ids(rows_, -1, static_cast<int>(cols_) + 10);
    const auto hits = [&](Count r, Count c) { return ids[plain::at(r)] == columns.begin + c; };
    const Tensor id_tensor = put_ids(rank, rows_, ids);
    Tensor y = put(rank, shape_, x_);
    const Doubles picked = each_row([&](Count r) {
      double value = 0;
      for (Count c = 0; c < cols_; ++c) value = hits(r, c) ? x(r, c) : value;
      return value;
    });
    expect_close(get(pick(y, id_tensor, columns)), picked, 0, "pick");
    add_at(y, id_tensor, columns, -1.5F);
    const auto added = each([&](Count r, Count c) { return x(r, c) - (hits(r, c) ? 1.5 : 0.0); });
    expect_close(get(y), added, kExact, "add_at");
  });
}

/// As top_k() says, by sorting.
std::vector<int> largest_by_sorting(const Floats& x, Count rows, Count cols, Count k) {
  std::vector<int> chosen;
  for (Count r = 0; r < rows; ++r) {
    std::vector<int> row(plain::at(cols));
    std::iota(row.begin(), row.end(), static_cast<int>(r * cols));
    const auto size = [&](int i) {
      const float value = std::abs(x[plain::at(i)]);
      return std::pair(std::isnan(value), std::isnan(value) ? 0.0F : value);
    };
    std::stable_sort(row.begin(), row.end(), [&](int a, int b) { return size(a) > size(b); });
    std::sort(row.begin(), row.begin() + k);
    chosen.insert(chosen.end(), row.begin(), row.begin() + k);
  }
  return chosen;
}

TEST_P(Values, TopK) {
  on_rank([&](Rank& rank) {
    const Tensor input = put(rank, shape_, x_);
    for (const Count k : {Count{1}, (cols_ + 1) / 2, cols_}) {
      const Tensor ids = top_k(input, k);
      EXPECT_EQ(ids.shape(), (Shape{rows_, k}));
      EXPECT_EQ(ids.dtype(), DType::i32);
      const std::vector<int> want = largest_by_sorting(get(input), rows_, cols_, k);
      const Floats got = get(ids);
      EXPECT_EQ(std::vector<int>(got.begin(), got.end()), want) << k << " of " << cols_;
    }
  });
}

TEST(TopK, TakesTheFirstOfEqualOnesAndNaNBeforeAll) {
  on_rank([&](Rank& rank) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const Tensor ties = put(rank, {2, 5}, {1, -2, 2, 2, 0, 3, 3, -3, 3, 3});
    EXPECT_EQ(get(top_k(ties, 2)), (Floats{1, 2, 5, 6}));
    EXPECT_EQ(get(top_k(ties, 4)), (Floats{0, 1, 2, 3, 5, 6, 7, 8}));
    const Tensor ends = put(rank, {1, 6}, {0, -inf, 1e-42, nan, inf, -0.0});
    EXPECT_EQ(get(top_k(ends, 1)), (Floats{3}));
    EXPECT_EQ(get(top_k(ends, 2)), (Floats{1, 3}));
    EXPECT_EQ(get(top_k(ends, 4)), (Floats{1, 2, 3, 4}));
    EXPECT_EQ(get(top_k(ends, 5)), (Floats{0, 1, 2, 3, 4}));
  });
}

/// More columns than a block has threads, and most of them equal.
TEST(TopK, OfALongRow) {
  on_rank([&](Rank& rank) {
    constexpr Count kCols = 3001;
    Doubles x(kCols, 1.0);
    for (Count i = 0; i < kCols; i += 7) x[plain::at(i)] = -static_cast<double>(i % 64);
    const Tensor input = put(rank, {1, kCols}, x);
    for (const Count k : {1, 100, 400, 1500, 3000}) {
      const std::vector<int> want = largest_by_sorting(get(input), 1, kCols, k);
      const Floats got = get(top_k(input, k));
      EXPECT_EQ(std::vector<int>(got.begin(), got.end()), want) << k;
    }
  });
}

/// With the rows of a table, what is chosen can be brought and added to.
TEST(TopK, NumbersElementsAsRowsOfATable) {
  on_rank([&](Rank& rank) {
    Tensor x = put(rank, {2, 3}, {5, -1, 2, 0.5, 3, -4});
    const Tensor ids = top_k(x, 2);
    Tensor values = embedding(ids, x.reshaped({6, 1}), {0, 6});
    EXPECT_EQ(get(values), (Floats{5, 2, 3, -4}));
    scale(values, -1);
    embedding_backward_add(x.reshaped({6, 1}), ids, {0, 6}, values);
    EXPECT_EQ(get(x), (Floats{0, -1, 0, 0.5, 0, 0}));
  });
}

TEST_P(Values, SlicesAndConcatenations) {
  on_rank([&](Rank& rank) {
    const Tensor input = put(rank, shape_, x_);
    const Count begin = source_.integer(0, cols_ + 1);
    const Count end = source_.integer(begin, cols_ + 1);
    const Tensor left = slice_cols(input, {0, begin});
    const Tensor middle = slice_cols(input, {begin, end});
    const Tensor right = slice_cols(input, {end, cols_});
    EXPECT_EQ(middle.shape(), (Shape{rows_, end - begin}));
    const Tensor whole = concat_cols({left, middle, right});
    EXPECT_EQ(whole.shape(), shape_);
    EXPECT_EQ(get(whole), get(input));

    const Count row = source_.integer(0, rows_ + 1);
    const Tensor below = concat_rows({input.rows_part({0, row}), input.rows_part({row, rows_}), input});
    EXPECT_EQ(below.shape(), (Shape{2 * rows_, cols_}));
    Floats twice = get(input);
    const Floats once = twice;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(get(below), twice);
  });
}

TEST_P(Values, SquaresAndFlags) {
  on_rank([&](Rank& rank) {
    Tensor input = put(rank, shape_, x_);
    Tensor total = put(rank, 1, {0.5});
    add_squares(total, input);
    const double squares = dot(x_, x_) + 0.5;
    expect_close(get(total), {squares}, kExact, "add_squares");
    expect_close(get(clip_factor(total, 0.1F)), {0.1 / std::sqrt(squares)}, kExact, "clip_factor, clipping");
    expect_close(get(clip_factor(total, 1e6F)), {1.0}, 0, "clip_factor, not clipping");

    Tensor flag = rank.zeros(1, Kind::other);
    flag_nonfinite(flag, input);
    EXPECT_EQ(rank.read(flag), 0);
    if (input.size() == 0) return;
    const Count at = source_.integer(0, input.size());
    fill(input.part({at, at + 1}), GetParam() % 2 == 0 ? INFINITY : NAN);
    flag_nonfinite(flag, input);
    EXPECT_EQ(rank.read(flag), 1);
  });
}

TEST_P(Values, Matmul) {
  const Count k = source_.integer(1, 20);
  on_rank([&](Rank& rank) {
    for (const Trans trans : {nn, nt, tn, tt}) {
      const bool trans_a = trans == tn || trans == tt;
      const bool trans_b = trans == nt || trans == tt;
      const Doubles a = source_.numbers(rows_ * k);
      const Doubles b = source_.numbers(k * cols_);
      const Tensor left = put(rank, trans_a ? Shape{k, rows_} : Shape{rows_, k}, a);
      const Tensor right = put(rank, trans_b ? Shape{cols_, k} : Shape{k, cols_}, b);
      Doubles want = plain::matmul(a, b, rows_, cols_, k, trans_a, trans_b);
      const Tensor c = matmul(left, right, trans);
      EXPECT_EQ(c.shape(), shape_);
      expect_close(get(c), want, kRounded, "matmul");
      Tensor sum = put(rank, shape_, x_);
      matmul_add(sum, left, right, trans);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += x_[i];
      expect_close(get(sum), want, kRounded, "matmul_add");
    }
  });
}

TEST_P(Values, SgdAndAdamOnDeviceScalars) {
  on_rank([&](Rank& rank) {
    const Tensor grad = put(rank, shape_, z_);
    const Tensor factor = put(rank, 1, {0.5});
    Tensor w = put(rank, shape_, x_);
    sgd(w, grad, 0.1F, factor);
    Doubles want(x_.size());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = x_[i] - 0.05 * z_[i];
    expect_close(get(w), want, kExact, "sgd");

    Tensor halved = clone(grad);
    scale(halved, 0.5F);
    std::array<Tensor, 2> m{rank.zeros(shape_, Kind::optimizer), rank.zeros(shape_, Kind::optimizer)};
    std::array<Tensor, 2> v{rank.zeros(shape_, Kind::optimizer), rank.zeros(shape_, Kind::optimizer)};
    Tensor other = clone(w);
    adam(w, grad, m[0], v[0], {}, factor);
    adam(other, halved, m[1], v[1], {});
    EXPECT_EQ(get(w), get(other)) << "the factor multiplies the gradient";
    EXPECT_EQ(get(v[0]), get(v[1]));
    const Floats before = get(w);
    adam(w, grad, m[0], v[0], {.step = 2}, factor, put(rank, 1, {1.0}));
    EXPECT_EQ(get(w), before) << "skip is set";
    EXPECT_EQ(get(v[0]), get(v[1]));
  });
}

/// A vocabulary in two parts gives the same loss and gradient as the whole.
TEST(SplitVocabulary, EqualsCrossEntropy) {
  on_rank([](Rank& rank) {
    Source source(5);
    const Count rows = 6, half = 9, tokens = 5;
    const Doubles logits = source.numbers(rows * 2 * half, 2.0);
    const std::vector<int> target_ids = {0, 17, -1, 8, 9, 3};
    const Tensor whole = put(rank, {rows, 2 * half}, logits);
    const Tensor targets = put_ids(rank, rows, target_ids);
    Tensor loss = rank.zeros(1, Kind::other);
    const Tensor grad = cross_entropy(clone(whole), targets, tokens, loss);

    const std::array<Range, 2> ranges{Range{0, half}, Range{half, 2 * half}};
    std::array<Tensor, 2> z{slice_cols(whole, ranges[0]), slice_cols(whole, ranges[1])};
    Tensor hit = pick(z[0], targets, ranges[0]);
    add(hit, pick(z[1], targets, ranges[1]));
    const Tensor tops0 = row_max(z[0]);
    const Tensor tops1 = row_max(z[1]);
    const Tensor top = row_max(concat_cols({tops0.reshaped({rows, 1}), tops1.reshaped({rows, 1})}));
    Tensor sum = rank.zeros(rows, Kind::other);
    for (Tensor& part : z) {
      exp_minus_row(part, top);
      add(sum, row_sum(part));
    }
    Tensor split_loss = rank.zeros(1, Kind::other);
    loss_add(split_loss, sum, hit, top, targets, tokens);
    EXPECT_NEAR(rank.read(loss), rank.read(split_loss), 1e-6);
    for (std::size_t i = 0; i < 2; ++i) {
      divide_rows(z[i], sum);
      add_at(z[i], targets, ranges[i], -1);
      scale(z[i], 1.0F / static_cast<float>(tokens));
    }
    const Floats joined = get(concat_cols({z[0], z[1]}));
    const Floats want = get(grad);
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (target_ids[i / (2 * half)] < 0) continue;
      EXPECT_NEAR(joined[i], want[i], 1e-6);
    }
  });
}

TEST(CrossEntropy, TargetOutsideOfTheVocabularyIsNotSilent) {
  on_rank([](Rank& rank) {
    Tensor loss = rank.zeros(1, Kind::other);
    const Tensor grad = cross_entropy(put(rank, {1, 3}, {1, 2, 3}), put_ids(rank, 1, {3}), 1, loss);
    EXPECT_TRUE(std::isnan(rank.read(loss)));
    EXPECT_TRUE(std::isnan(get(grad)[0]));
  });
}

TEST(NotANumber, IsNeverLost) {
  on_rank([](Rank& rank) {
    const Tensor x = put(rank, {1, 20}, [] {
      Doubles values(20, 1.0);
      values[3] = NAN;
      return values;
    }());
    EXPECT_TRUE(std::isnan(get(row_max(x))[0]));
    EXPECT_TRUE(std::isnan(get(row_sum(x))[0]));
    EXPECT_TRUE(std::isnan(get(softmax(x))[0]));
    EXPECT_TRUE(std::isnan(get(relu(x))[3]));
    EXPECT_TRUE(std::isnan(get(gelu(x))[3]));
  });
}

TEST(Gelu, IsAccurateOverItsWholeRange) {
  on_rank([](Rank& rank) {
    Doubles x;
    for (double v = -9; v <= 9; v += 1.0 / 512) x.push_back(v);
    for (const double v : {-80.0, -20.0, 20.0, 1e6, -1e6, 1e-20, 0.0}) x.push_back(v);
    const Floats y = get(gelu(put(rank, static_cast<Count>(x.size()), x)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = x[i] < -6 ? 0 : plain::gelu(x[i]);  // tanh cancels there, even in double
      ASSERT_NEAR(y[i], want, 1e-6 * std::max(std::abs(want), 1e-2)) << "at " << x[i];
    }
  });
}

}  // namespace
}  // namespace shardlings::ops_test
