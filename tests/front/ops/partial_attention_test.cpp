// Attention of some queries over some keys: against a plain one in double, its gradients against finite differences,
// parts joined against the whole, and what it costs.
#include <gtest/gtest.h>

#include "front/ops/plain.h"
#include "model/attention_pairs.h"

namespace shardlings::ops_test {
namespace {

constexpr double kPartForward = 2e-6;
constexpr double kPartBackward = 5e-6;

/// Extents of queries and keys, and where they stand.
struct Extents {
  Count n, m, b, heads, key_heads, d;
  AttentionPart at{};

  Count width() const { return heads * d; }
  Count key_width() const { return key_heads * d; }
  Shape q() const { return {n, b, width()}; }
  Shape kv() const { return {2 * m, b, key_width()}; }
  AttentionPart part() const {
    AttentionPart part = at;
    part.heads = static_cast<int>(heads);
    return part;
  }
  bool sees(Count query, Count key) const {
    return at.first_key + key <= at.first_query + query && at.first_key + key >= at.document;
  }
};

struct Plain {
  Doubles y, lse;
};

/// The same in double.
Plain plainly(const Extents& e, const Doubles& q, const Doubles& kv) {
  Plain result{Doubles(q.size(), 0.0), {}};
  for (Count i = 0; i < e.n; ++i) {
    for (Count row = i * e.b; row < (i + 1) * e.b; ++row) {
      for (Count head = 0; head < e.heads; ++head) {
        const auto key = [&](Count j, bool value, Count c) {
          const Count at = (j + (value ? e.m : 0)) * e.b + row % e.b;
          return kv[plain::at(at * e.key_width() + head / (e.heads / e.key_heads) * e.d + c)];
        };
        Doubles weights;
        double sum = 0;
        for (Count j = 0; j < e.m; ++j) {
          double score = 0;
          for (Count c = 0; c < e.d; ++c) score += q[plain::at(row * e.width() + head * e.d + c)] * key(j, false, c);
          weights.push_back(e.sees(i, j) ? std::exp(score / std::sqrt(static_cast<double>(e.d))) : 0.0);
          sum += weights.back();
        }
        result.lse.push_back(std::log(sum));
        for (Count j = 0; j < e.m && sum > 0; ++j) {
          for (Count c = 0; c < e.d; ++c) {
            result.y[plain::at(row * e.width() + head * e.d + c)] += weights[plain::at(j)] / sum * key(j, true, c);
          }
        }
      }
    }
  }
  return result;
}

void expect_lse(const Floats& got, const Doubles& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isinf(want[i])) {
      EXPECT_EQ(static_cast<double>(got[i]), want[i]) << "lse of " << i;
    } else {
      EXPECT_NEAR(got[i], want[i], 1e-5) << "lse of " << i;
    }
  }
}

class PartialAttention : public testing::TestWithParam<Extents> {};

INSTANTIATE_TEST_SUITE_P(Shapes, PartialAttention,
                         testing::Values(Extents{1, 1, 1, 1, 1, 1}, Extents{5, 5, 2, 2, 2, 3},
                                         Extents{4, 7, 1, 4, 2, 3, {1, 5, 0}}, Extents{4, 7, 2, 6, 2, 2, {1, 20, 3}},
                                         Extents{6, 3, 1, 2, 1, 4, {1, 8, 9}}, Extents{5, 4, 1, 2, 1, 3, {1, 0, 7}},
                                         Extents{7, 9, 2, 3, 1, 2, {1, 11, 4, 8}},
                                         Extents{3, 4, 1, 2, 2, 2, {1, 9, 4, 9}}, Extents{0, 4, 1, 2, 2, 2},
                                         Extents{4, 0, 1, 2, 2, 2}, Extents{131, 3, 1, 1, 1, 2, {1, 1, 0}}));

TEST_P(PartialAttention, AgreesWithDifferences) {
  const Extents& e = GetParam();
  on_rank([&](Rank& rank) {
    Source source(static_cast<std::uint64_t>(e.n * 100 + e.m));
    const Doubles q = source.numbers(e.q().size()), kv = source.numbers(e.kv().size()),
                  g = source.numbers(e.q().size());
    const Tensor queries = put(rank, e.q(), q), keys = put(rank, e.kv(), kv);
    Tensor lse;
    const Tensor y = partial_attention(queries, keys, e.part(), &lse);
    EXPECT_EQ(y.shape(), e.q());
    EXPECT_EQ(lse.shape(), (Shape{e.n, e.b, e.heads}));
    const Plain want = plainly(e, q, kv);
    expect_close(get(y), want.y, kPartForward, "y");
    expect_lse(get(lse), want.lse);
    EXPECT_EQ(get(partial_attention(queries, keys, e.part(), nullptr)), get(y)) << "keeping lse changes the result";

    const Doubles q_before = source.numbers(e.q().size()), kv_before = source.numbers(e.kv().size());
    Tensor grad_q = put(rank, e.q(), q_before), grad_kv = put(rank, e.kv(), kv_before);
    partial_attention_backward_add(grad_q, grad_kv, queries, keys, y, lse, put(rank, e.q(), g), e.part());
    const auto of_q = [&](const Doubles& v) { return dot(plainly(e, v, kv).y, g) + dot(v, q_before); };
    const auto of_kv = [&](const Doubles& v) { return dot(plainly(e, q, v).y, g) + dot(v, kv_before); };
    expect_close(get(grad_q), gradient(of_q, q), kPartBackward, "gradient of q");
    expect_close(get(grad_kv), gradient(of_kv, kv), kPartBackward, "gradient of kv");
  });
}

/// Keys and values of some positions: those rows of k and v, which are `whole` each, one below the other.
Tensor kv_of(Rank& rank, const Doubles& k, const Doubles& v, const Shape& whole, Range rows, DType dtype) {
  const Count row = whole[1] * whole[2];
  Doubles values(k.begin() + rows.begin * row, k.begin() + rows.end * row);
  values.insert(values.end(), v.begin() + rows.begin * row, v.begin() + rows.end * row);
  return put(rank, {2 * rows.size(), whole[1], whole[2]}, values, dtype);
}

/// Queries, keys and values of one attention, which are taken in parts of uneven lengths, in any order of parts.
struct Divided {
  Count s = 11, b = 2;
  Count heads = 4, key_heads = 2, d = 3;
  std::vector<Range> parts{{4, 5}, {8, 11}, {0, 4}, {5, 8}};
  Doubles q, k, v, g;
  explicit Divided(std::uint64_t seed) {
    Source source(seed);
    q = source.numbers(s * b * heads * d);
    k = source.numbers(s * b * key_heads * d);
    v = source.numbers(s * b * key_heads * d);
    g = source.numbers(s * b * heads * d);
  }
  Shape q_shape() const { return {s, b, heads * d}; }
  Shape k_shape() const { return {s, b, key_heads * d}; }
  Extents whole() const { return {s, s, b, heads, key_heads, d}; }
  AttentionPart part(Range keys) const { return {.heads = static_cast<int>(heads), .first_key = keys.begin}; }
};

TEST(MergedAttention, IsTheWhole) {
  on_rank([](Rank& rank) {
    const Divided of(3);
    const Tensor q = put(rank, of.q_shape(), of.q);
    Doubles kv = of.k;
    kv.insert(kv.end(), of.v.begin(), of.v.end());
    const Plain want = plainly(of.whole(), of.q, kv);
    Tensor y = rank.zeros(of.q_shape(), Kind::activation);
    Tensor lse = rank.empty({of.s, of.b, of.heads}, Kind::activation);
    fill(lse, -INFINITY);  // no key was seen yet
    for (const Range& keys : of.parts) {
      Tensor other_lse;
      const Tensor other =
          partial_attention(q, kv_of(rank, of.k, of.v, of.k_shape(), keys, DType::f32), of.part(keys), &other_lse);
      merge_attention(y, lse, other, other_lse);
    }
    expect_close(get(y), want.y, kPartForward, "y");
    expect_lse(get(lse), want.lse);

    // Gradients of parts add up to those of the whole.
    const Tensor grad = put(rank, of.q_shape(), of.g);
    Tensor grad_q = rank.zeros(of.q_shape(), Kind::gradient);
    Doubles grad_kv(kv.size(), 0.0);
    for (const Range& keys : of.parts) {
      const Tensor part = kv_of(rank, of.k, of.v, of.k_shape(), keys, DType::f32);
      Tensor grad_part = rank.zeros(part.shape(), Kind::gradient);
      partial_attention_backward_add(grad_q, grad_part, q, part, y, lse, grad, of.part(keys));
      const Floats values = get(grad_part);
      const std::size_t half = values.size() / 2;
      const auto at = static_cast<std::ptrdiff_t>(keys.begin * of.b * of.key_heads * of.d);
      std::copy_n(values.begin(), half, grad_kv.begin() + at);
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(half), half,
                  grad_kv.begin() + static_cast<std::ptrdiff_t>(of.k.size()) + at);
    }
    const auto of_q = [&](const Doubles& x) { return dot(plainly(of.whole(), x, kv).y, of.g); };
    const auto of_kv = [&](const Doubles& x) { return dot(plainly(of.whole(), of.q, x).y, of.g); };
    expect_close(get(grad_q), gradient(of_q, of.q), kPartBackward, "gradient of q");
    expect_close(Floats(grad_kv.begin(), grad_kv.end()), gradient(of_kv, kv), kPartBackward, "gradient of kv");
  });
}

/// With equal heads and all keys it is attention(), whose values an independent framework has confirmed.
TEST(PartialAttention, OfAllKeysIsAttention) {
  on_rank([](Rank& rank) {
    const Count s = 300, b = 2, w = 6;
    Source source(12);
    const Tensor qkv = put(rank, {s, b, 3 * w}, source.numbers(s * b * 3 * w));
    const Tensor grad = put(rank, {s, b, w}, source.numbers(s * b * w));
    Tensor inner, lse;
    const Tensor want = attention(qkv, 2, &inner);
    const Floats want_grad = get(attention_backward(qkv, 2, std::move(inner), grad));

    const Tensor q = slice_cols(qkv, {0, w}), k = slice_cols(qkv, {w, 2 * w}), v = slice_cols(qkv, {2 * w, 3 * w});
    const Tensor kv = concat_rows({k, v});
    const Tensor y = partial_attention(q, kv, {.heads = 2}, &lse);
    const Floats values = get(want);
    expect_close(get(y), Doubles(values.begin(), values.end()), kPartForward, "y");
    Tensor grad_q = rank.zeros(q.shape(), Kind::gradient), grad_kv = rank.zeros(kv.shape(), Kind::gradient);
    partial_attention_backward_add(grad_q, grad_kv, q, kv, y, lse, grad, {.heads = 2});
    const Tensor grads = concat_cols({grad_q, grad_kv.rows_part({0, s}), grad_kv.rows_part({s, 2 * s})});
    expect_close(get(grads), Doubles(want_grad.begin(), want_grad.end()), kPartBackward, "gradients");
  });
}

TEST(MergedAttention, InBf16MayBeKeptInF32) {
  on_rank([](Rank& rank) {
    const Divided of(5);
    const Tensor q = put(rank, of.q_shape(), of.q, DType::bf16);
    const auto merged = [&](DType kept) {
      Tensor y = rank.zeros(of.q_shape(), Kind::activation, kept);
      Tensor lse = rank.empty({of.s, of.b, of.heads}, Kind::activation);
      fill(lse, -INFINITY);
      for (const Range& keys : of.parts) {
        Tensor other_lse;
        const Tensor kv = kv_of(rank, of.k, of.v, of.k_shape(), keys, DType::bf16);
        const Tensor other = partial_attention(q, kv, of.part(keys), &other_lse);
        EXPECT_EQ(other.dtype(), DType::bf16);
        EXPECT_EQ(other_lse.dtype(), DType::f32);
        merge_attention(y, lse, other, other_lse);
      }
      return get(y);
    };
    Doubles kv = of.k;
    kv.insert(kv.end(), of.v.begin(), of.v.end());
    const Plain want = plainly(of.whole(), of.q, kv);
    expect_close(merged(DType::f32), want.y, 0.03, "y kept in f32");
    expect_close(merged(DType::bf16), want.y, 0.05, "y kept in bf16");
  });
}

TEST(PartialAttention, GradientsOfBf16MayBeKeptInF32) {
  on_rank([](Rank& rank) {
    const Divided of(6);
    const Tensor q = put(rank, of.q_shape(), of.q, DType::bf16), grad = put(rank, of.q_shape(), of.g, DType::bf16);
    const Tensor kv = kv_of(rank, of.k, of.v, of.k_shape(), {0, of.s}, DType::bf16);
    Tensor lse;
    const Tensor y = partial_attention(q, kv, of.part({0, 0}), &lse);
    const auto grads = [&](DType dtype) {
      Tensor grad_q = rank.zeros(q.shape(), Kind::gradient, dtype),
             grad_kv = rank.zeros(kv.shape(), Kind::gradient, dtype);
      partial_attention_backward_add(grad_q, grad_kv, q, kv, y, lse, grad, of.part({0, 0}));
      Floats all = get(grad_q);
      const Floats others = get(grad_kv);
      all.insert(all.end(), others.begin(), others.end());
      return all;
    };
    const Floats wide = grads(DType::f32);
    expect_close(grads(DType::bf16), Doubles(wide.begin(), wide.end()), 1.0 / 64, "rounded sums");
  });
}

TEST(SeenPairs, AreCountedOneByOne) {
  for (Count n = 0; n < 5; ++n) {
    for (Count m = 0; m < 5; ++m) {
      for (Count at = 0; at < 9; ++at) {
        for (Count document = 0; document < 12; ++document) {
          const Range queries{at, at + n}, keys{3, 3 + m};
          Count pairs = 0;
          for (Count q = queries.begin; q < queries.end; ++q) {
            for (Count k = keys.begin; k < keys.end; ++k) pairs += k <= q && k >= document ? 1 : 0;
          }
          EXPECT_EQ(model::seen_pairs(queries, keys, document), pairs) << at << " " << n << " " << m << " " << document;
        }
      }
    }
  }
}

/// Operations of the pairs that are seen, and the bytes of the keys that can be.
TEST(PartialAttention, CostsWhatIsSeen) {
  const auto flops_of = [](AttentionPart part, bool backward) {
    const auto report = on_rank([&](Rank& rank) {
      Tensor q = rank.zeros({4, 2, 6}, Kind::activation), kv = rank.zeros({6, 2, 2}, Kind::activation);
      Tensor lse = rank.zeros({4, 2, 3}, Kind::activation);
      part.heads = 3;
      if (!backward) {
        partial_attention(q, kv, part, nullptr);
        return;
      }
      Tensor grad_q = rank.zeros(q.shape(), Kind::gradient), grad_kv = rank.zeros(kv.shape(), Kind::gradient);
      partial_attention_backward_add(grad_q, grad_kv, q, kv, q, lse, q, part);
    });
    return report.ranks[0].counters.flops;
  };
  EXPECT_EQ(flops_of({.first_query = 10}, false), Flops(4 * 2 * 6 * 12)) << "all of 4 x 3";
  EXPECT_EQ(flops_of({}, false), Flops(4 * 2 * 6 * 9)) << "1 + 2 + 3 + 3";
  EXPECT_EQ(flops_of({.first_query = 10, .document = 2}, false), Flops(4 * 2 * 6 * 4)) << "one key for each";
  EXPECT_EQ(flops_of({.first_key = 4}, false), Flops(0)) << "nothing is seen";
  EXPECT_EQ(flops_of({}, true), Flops(10 * 2 * 6 * 9));
}

TEST(PartialAttention, NamesWhatDoesNotFit) {
  const auto expect_error = [](const std::function<void(Rank&)>& body, const std::string& sentence) {
    const std::string error = error_of(body);
    EXPECT_NE(error.find(sentence), std::string::npos) << error;
  };
  const auto zeros = [](Rank& rank, const Shape& shape) { return rank.zeros(shape, Kind::other); };
  expect_error(
      [&](Rank& r) {
        partial_attention(zeros(r, {4, 1, 6}), zeros(r, {3, 1, 6}), {}, nullptr);
      },
      "partial_attention: kv is (3, 1, 6), but must be (2 m, b, u): keys, then values");
  expect_error(
      [&](Rank& r) {
        partial_attention(zeros(r, {4, 1, 6}), zeros(r, {4, 2, 6}), {}, nullptr);
      },
      "the numbers of sequences 1 and 2 differ");
  expect_error(
      [&](Rank& r) {
        partial_attention(zeros(r, {4, 1, 6}), zeros(r, {4, 1, 6}), {.heads = 4}, nullptr);
      },
      "partial_attention: 4 heads do not divide h = 6");
  expect_error(
      [&](Rank& r) {
        partial_attention(zeros(r, {4, 1, 6}), zeros(r, {4, 1, 4}), {.heads = 3}, nullptr);
      },
      "keys are 4 wide");
  expect_error(
      [&](Rank& r) {
        partial_attention(zeros(r, {4, 1, 6}), zeros(r, {4, 1, 6}), {1, -1}, nullptr);
      },
      "first_query is -1");
  expect_error(
      [&](Rank& r) {
        Tensor y = zeros(r, {4, 1, 6}), lse = zeros(r, {4, 1, 4});
        merge_attention(y, lse, zeros(r, {4, 1, 6}), zeros(r, {4, 1, 4}));
      },
      "lse must have one element for each head of each query");
}

}  // namespace
}  // namespace shardlings::ops_test
