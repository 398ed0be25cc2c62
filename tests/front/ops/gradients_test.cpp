// Every operation with a gradient: forward against a plain one in double, backward against finite differences of that.
#include <gtest/gtest.h>

#include "front/ops/plain.h"

namespace shardlings::ops_test {
namespace {

constexpr double kForward = 2e-6;   // some roundings of f32
constexpr double kBackward = 5e-6;  // and sums of them

struct Extent {
  Count rows, cols;
};

class Gradients : public testing::TestWithParam<Extent> {
 protected:
  Count rows() const { return GetParam().rows; }
  Count cols() const { return GetParam().cols; }
  Count size() const { return rows() * cols(); }
  Shape shape() const { return {rows(), cols()}; }
  Source source_{static_cast<std::uint64_t>(1000 * GetParam().rows + GetParam().cols)};
};

INSTANTIATE_TEST_SUITE_P(Shapes, Gradients,
                         testing::Values(Extent{1, 1}, Extent{0, 5}, Extent{1, 17}, Extent{5, 3}, Extent{4, 16},
                                         Extent{3, 31}, Extent{7, 66}));

TEST_P(Gradients, Gelu) {
  on_rank([&](Rank& rank) {
    const Doubles x = source_.numbers(size(), 3.0);
    const Doubles g = source_.numbers(size());
    const Tensor input = put(rank, shape(), x);
    expect_close(get(gelu(input)), plain::map(x, plain::gelu), kForward, "gelu");
    const auto loss = [&](const Doubles& v) { return dot(plain::map(v, plain::gelu), g); };
    expect_close(get(gelu_backward(input, put(rank, shape(), g))), gradient(loss, x), kBackward, "gelu_backward");
  });
}

TEST_P(Gradients, Relu) {
  on_rank([&](Rank& rank) {
    Doubles x = source_.numbers(size());
    for (double& v : x) v += v < 0 ? -0.01 : 0.01;  // away from the kink
    const Doubles g = source_.numbers(size());
    const Tensor input = put(rank, shape(), x);
    expect_close(get(relu(input)), plain::map(x, plain::relu), kForward, "relu");
    const auto loss = [&](const Doubles& v) { return dot(plain::map(v, plain::relu), g); };
    expect_close(get(relu_backward(input, put(rank, shape(), g))), gradient(loss, x), kBackward, "relu_backward");
  });
}

TEST_P(Gradients, Softmax) {
  on_rank([&](Rank& rank) {
    const Doubles x = source_.numbers(size(), 2.0);
    const Doubles g = source_.numbers(size());
    const Tensor y = softmax(put(rank, shape(), x));
    expect_close(get(y), plain::softmax(x, rows(), cols()), kForward, "softmax");
    const auto loss = [&](const Doubles& v) { return dot(plain::softmax(v, rows(), cols()), g); };
    expect_close(get(softmax_backward(y, put(rank, shape(), g))), gradient(loss, x), kBackward, "softmax_backward");
  });
}

TEST_P(Gradients, LayerNorm) {
  on_rank([&](Rank& rank) {
    // Wide rows only: with one or two columns the derivative is nearly singular.
    const Count width = cols() + 4;
    const Shape wide{rows(), width};
    const Doubles x = source_.numbers(wide.size());
    const Doubles w = source_.numbers(width);
    const Doubles b = source_.numbers(width);
    const Doubles g = source_.numbers(wide.size());
    const Tensor input = put(rank, wide, x);
    const Tensor weight = put(rank, width, w);
    Tensor stats;
    const Tensor y = layer_norm(input, weight, put(rank, width, b), &stats);
    expect_close(get(y), plain::layer_norm(x, w, b), 4 * kForward, "layer_norm");

    const Doubles before = source_.numbers(width);  // backward adds
    Tensor grad_weight = put(rank, width, before);
    Tensor grad_bias = put(rank, width, before);
    const Tensor grad = layer_norm_backward(input, weight, stats, put(rank, wide, g), grad_weight, grad_bias);
    const auto of_x = [&](const Doubles& v) { return dot(plain::layer_norm(v, w, b), g); };
    const auto of_w = [&](const Doubles& v) { return dot(plain::layer_norm(x, v, b), g) + dot(v, before); };
    const auto of_b = [&](const Doubles& v) { return dot(plain::layer_norm(x, w, v), g) + dot(v, before); };
    expect_close(get(grad), gradient(of_x, x), 4 * kBackward, "gradient of x");
    expect_close(get(grad_weight), gradient(of_w, w), kBackward, "gradient of weight");
    expect_close(get(grad_bias), gradient(of_b, b), kBackward, "gradient of bias");
  });
}

TEST_P(Gradients, LinearWithBias) {
  on_rank([&](Rank& rank) {
    const Count outputs = 6;
    const Doubles x = source_.numbers(size());
    const Doubles w = source_.numbers(outputs * cols());
    const Doubles b = source_.numbers(outputs);
    const Doubles g = source_.numbers(rows() * outputs);
    const auto forward = [&](const Doubles& xs, const Doubles& ws, const Doubles& bs) {
      Doubles y = plain::matmul(xs, ws, rows(), outputs, cols(), false, true);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += bs[i % static_cast<std::size_t>(outputs)];
      return y;
    };
    const Tensor input = put(rank, shape(), x);
    const Tensor weight = put(rank, {outputs, cols()}, w);
    Tensor y = matmul(input, weight, nt);
    add_bias(y, put(rank, outputs, b));
    expect_close(get(y), forward(x, w, b), kForward, "linear");

    const Tensor grad = put(rank, {rows(), outputs}, g);
    const Doubles before = source_.numbers(outputs * cols());
    Tensor grad_weight = put(rank, {outputs, cols()}, before);
    Tensor grad_bias = rank.zeros(outputs, Kind::gradient);
    matmul_add(grad_weight, grad, input, tn);
    sum_rows_add(grad_bias, grad);
    const auto of_w = [&](const Doubles& v) { return dot(forward(x, v, b), g) + dot(v, before); };
    expect_close(get(matmul(grad, weight, nn)), gradient([&](const Doubles& v) { return dot(forward(v, w, b), g); }, x),
                 kBackward, "gradient of x");
    expect_close(get(grad_weight), gradient(of_w, w), kBackward, "gradient of weight");
    expect_close(get(grad_bias), gradient([&](const Doubles& v) { return dot(forward(x, w, v), g); }, b), kBackward,
                 "gradient of bias");
  });
}

TEST_P(Gradients, CrossEntropy) {
  on_rank([&](Rank& rank) {
    const Doubles x = source_.numbers(size(), 2.0);
    std::vector<int> targets = source_.ids(rows(), 0, static_cast<int>(cols()));
    if (targets.size() > 2) targets[1] = -1;
    const Count tokens = 11;
    Tensor loss = put(rank, 1, {0.5});
    const Tensor grad = cross_entropy(put(rank, shape(), x), put_ids(rank, rows(), targets), tokens, loss);
    const auto plainly = [&](const Doubles& v) { return plain::cross_entropy(v, targets, cols(), tokens); };
    expect_close(get(loss), {plainly(x) + 0.5}, kForward, "loss");
    expect_close(get(grad), gradient(plainly, x), kBackward, "gradient of the logits");
  });
}

struct AttentionCase {
  Count s, b, heads, head_size;
};

class AttentionGradient : public testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionGradient,
                         testing::Values(AttentionCase{1, 1, 1, 1}, AttentionCase{5, 2, 2, 3},
                                         AttentionCase{8, 1, 3, 4}, AttentionCase{17, 2, 1, 2},
                                         AttentionCase{0, 2, 1, 2}));

TEST_P(AttentionGradient, AgreesWithDifferences) {
  const auto [s, b, heads, head_size] = GetParam();
  on_rank([&, s = s, b = b, heads = heads, w = heads * head_size](Rank& rank) {
    Source source(static_cast<std::uint64_t>(s));
    const Doubles qkv = source.numbers(s * b * 3 * w);
    const Doubles g = source.numbers(s * b * w);
    const Tensor input = put(rank, {s, b, 3 * w}, qkv);
    const int h = static_cast<int>(heads);
    Tensor inner;
    const Tensor y = attention(input, h, &inner);
    const auto plainly = [&](const Doubles& v) { return plain::attention(v, s, b, heads, w); };
    expect_close(get(y), plainly(qkv), kForward, "attention");
    EXPECT_EQ(get(y), get(attention(input, h, nullptr))) << "keeping the probabilities changes the result";
    const Tensor grad = attention_backward(input, h, std::move(inner), put(rank, {s, b, w}, g));
    EXPECT_FALSE(inner);  // NOLINT(bugprone-use-after-move): that it is used up is what is tested
    expect_close(get(grad), gradient([&](const Doubles& v) { return dot(plainly(v), g); }, qkv), kBackward,
                 "gradient of qkv");
  });
}

/// Longer than one block of queries: against plain values only, differences would take minutes.
TEST(Attention, SeveralBlocksOfQueries) {
  on_rank([](Rank& rank) {
    const Count s = 300;
    Source source(7);
    const Doubles qkv = source.numbers(s * 3 * 4);
    const Tensor input = put(rank, {s, 1, 12}, qkv);
    Tensor inner;
    expect_close(get(attention(input, 2, &inner)), plain::attention(qkv, s, 1, 2, 4), kForward, "attention");

    // The derivative in one direction, by differences.
    const Doubles g = source.numbers(s * 4);
    const Doubles direction = source.numbers(s * 3 * 4);
    const Floats grad = get(attention_backward(input, 2, std::move(inner), put(rank, {s, 1, 4}, g)));
    const auto along = [&](const Doubles& t) {
      Doubles moved = qkv;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += t[0] * direction[i];
      return dot(plain::attention(moved, s, 1, 2, 4), g);
    };
    const double slope = dot(Doubles(grad.begin(), grad.end()), direction);
    EXPECT_NEAR(slope, gradient(along, {0.0})[0], 1e-3);
  });
}

TEST(Embedding, AgreesWithDifferences) {
  on_rank([](Rank& rank) {
    Source source(3);
    const Count s = 5, b = 3, h = 4, first = 2, last = 9;
    const std::vector<int> ids = source.ids(s * b, 0, 12);  // some of them outside of the table
    const Doubles table = source.numbers((last - first) * h);
    const Doubles positions = source.numbers(s * h);
    const Doubles g = source.numbers(s * b * h);
    const auto forward = [&](const Doubles& t, const Doubles& p) {
      Doubles y;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        for (Count j = 0; j < h; ++j) {
          const bool inside = ids[i] >= first && ids[i] < last;
          const double word = inside ? t[plain::at((ids[i] - first) * h + j)] : 0.0;
          y.push_back(word + p[plain::at(static_cast<Count>(i) / b * h + j)]);
        }
      }
      return y;
    };
    const Tensor id_tensor = put_ids(rank, {s, b}, ids);
    Tensor y = embedding(id_tensor, put(rank, {last - first, h}, table), {first, last});
    EXPECT_EQ(y.shape(), (Shape{s, b, h}));
    add_positions(y, put(rank, {s, h}, positions));
    expect_close(get(y), forward(table, positions), kForward, "embedding");

    Tensor grad_table = rank.zeros({last - first, h}, Kind::gradient);
    Tensor grad_positions = rank.zeros({s, h}, Kind::gradient);
    const Tensor grad = put(rank, {s, b, h}, g);
    embedding_backward_add(grad_table, id_tensor, {first, last}, grad);
    sum_positions_add(grad_positions, grad);
    const auto of_table = [&](const Doubles& v) { return dot(forward(v, positions), g); };
    const auto of_positions = [&](const Doubles& v) { return dot(forward(table, v), g); };
    expect_close(get(grad_table), gradient(of_table, table), kBackward, "gradient of the table");
    expect_close(get(grad_positions), gradient(of_positions, positions), kBackward, "gradient of the positions");
  });
}

}  // namespace
}  // namespace shardlings::ops_test
