// The same numbers again: from run to run, wherever the data lie, however they are divided, on every thread.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "front/ops/plain.h"
#include "support/test_device.h"

namespace shardlings::ops_test {
namespace {

TEST(RandomNormal, IsTheSameForAnySplit) {
  on_rank([](Rank& rank) {
    constexpr Count kSize = 203;
    constexpr std::uint64_t kSeed = 0x123456789ABCDEF0U;
    Tensor whole = rank.empty(kSize, Kind::parameter);
    random_normal(whole, kSeed, 0, 0.02F);
    const Floats want = get(whole);
    for (const Count part : {1, 2, 3, 4, 7, 50, 202}) {
      Tensor pieces = rank.empty(kSize, Kind::parameter);
      for (Count begin = 0; begin < kSize; begin += part) {
        random_normal(pieces.part({begin, std::min(begin + part, kSize)}), kSeed, begin, 0.02F);
      }
      EXPECT_EQ(get(pieces), want) << "in parts of " << part;
    }
    Tensor other = rank.empty(kSize, Kind::parameter);
    random_normal(other, kSeed + 1, 0, 0.02F);
    EXPECT_NE(get(other), want);
  });
}

TEST(RandomNormal, IsNormal) {
  on_rank([](Rank& rank) {
    constexpr Count kSize = 200'000;
    Tensor x = rank.empty(kSize, Kind::other);
    random_normal(x, 1, Count{1} << 40, 2.0F);
    double moments[5] = {};
    for (const float v : get(x)) {
      for (int power = 1; power <= 4; ++power) moments[power] += std::pow(static_cast<double>(v) / 2, power) / kSize;
    }
    // Five deviations of each estimate: sqrt(1, 2, 15, 96) / sqrt(n).
    const double unit = 5 / std::sqrt(static_cast<double>(kSize));
    EXPECT_NEAR(moments[1], 0, unit);
    EXPECT_NEAR(moments[2], 1, unit * std::sqrt(2.0));
    EXPECT_NEAR(moments[3], 0, unit * std::sqrt(15.0));
    EXPECT_NEAR(moments[4], 3, unit * std::sqrt(96.0));
  });
}

/// One of everything that sums, on data that begin `shift` elements into their storage.
Floats everything(Rank& rank, Count shift) {
  constexpr Count kS = 13, kB = 3, kW = 24;
  constexpr Count kRows = kS * kB;
  Source source(99);
  const auto shifted = [&](const Shape& shape) {
    Doubles values(static_cast<std::size_t>(shift), 0.0);
    const Doubles drawn = source.numbers(shape.size());
    values.insert(values.end(), drawn.begin(), drawn.end());
    return put(rank, static_cast<Count>(values.size()), values);
  };
  const auto view = [&](Tensor& t, const Shape& shape) {
    return t.part({shift, shift + shape.size()}).reshaped(shape);
  };
  const Shape qkv_shape{kS, kB, 3 * kW};
  const Shape x_shape{kS, kB, kW};
  Tensor qkv_data = shifted(qkv_shape);
  Tensor x_data = shifted(x_shape);
  Tensor w_data = shifted({kW, kW});
  Tensor grad_data = shifted({kW, kW});
  const View qkv = view(qkv_data, qkv_shape);
  const View x = view(x_data, x_shape);
  const View w = view(w_data, {kW, kW});
  const View grad_w = view(grad_data, {kW, kW});

  Floats result;
  const auto keep = [&](ConstView y) {
    const Floats values = get(y);
    result.insert(result.end(), values.begin(), values.end());
  };
  Tensor inner, stats;
  keep(attention(qkv, 2, &inner));
  keep(attention_backward(qkv, 2, std::move(inner), x));
  {
    Tensor lse, other_lse, grad = rank.zeros(x_shape, Kind::gradient),
                           grad_kv = rank.zeros({26, kB, kW}, Kind::gradient);
    const ConstView kv = qkv.part({0, 2 * kS * kB * kW}).reshaped({2 * kS, kB, kW});
    Tensor y = partial_attention(x, kv, {.heads = 3, .first_query = 4}, &lse);
    const Tensor other = partial_attention(x, kv, {.heads = 3, .first_query = 20, .document = 5}, &other_lse);
    merge_attention(y, lse, other, other_lse);
    keep(y);
    partial_attention_backward_add(grad, grad_kv, x, kv, y, lse, other, {.heads = 3, .first_query = 4});
    keep(grad);
    keep(grad_kv);
  }
  keep(layer_norm(x, w.part({0, kW}), w.part({kW, 2 * kW}), &stats));
  keep(layer_norm_backward(x, w.part({0, kW}), stats, x, grad_w.part({0, kW}), grad_w.part({kW, 2 * kW})));
  keep(matmul(x, w, nt));
  matmul_add(grad_w, x, x, tn);
  sum_rows_add(grad_w.part({0, kW}), x);
  keep(softmax(x));
  keep(gelu(x));
  keep(gelu_backward(x, x));
  keep(row_sum(x));
  Tensor total = rank.zeros(1, Kind::other);
  add_squares(total, x);
  keep(total);
  Tensor m = rank.zeros(kW * kW, Kind::optimizer);
  Tensor v = rank.zeros(kW * kW, Kind::optimizer);
  adam(w, grad_w, m, v, {});
  keep(w);
  Tensor loss = rank.zeros(1, Kind::other);
  keep(cross_entropy(clone(x), put_ids(rank, kRows, source.ids(kRows, -1, kW)), kRows, loss));
  keep(loss);
  return result;
}

TEST(Repetition, IsBitEqualAtAnyAlignment) {
  on_rank([](Rank& rank) {
    const Floats first = everything(rank, 0);
    for (const Count step : {0, 1, 2, 3, 5, 8, 15}) {
      const Count shift = step * support::test_device().same_bits_at;
      EXPECT_EQ(everything(rank, shift), first) << "shifted by " << shift;
    }
  });
}

TEST(Repetition, IsBitEqualOnManyThreadsAtOnce) {
  std::mutex mutex;
  std::vector<Floats> results;
  world::Options options;
  options.ranks = 6;
  options.make_device = [](int) { return support::test_device().make(); };
  const auto report = world::run(options, [&](Rank& rank) {
    for (int i = 0; i < 5; ++i) {
      Floats values = everything(rank, rank.id() * support::test_device().same_bits_at);
      const std::lock_guard lock(mutex);
      results.push_back(std::move(values));
    }
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  ASSERT_EQ(results.size(), 30U);
  for (const Floats& result : results) EXPECT_EQ(result, results.front());
}

/// A shard's elements get the same update as inside the whole, bit for bit, wherever vectors begin.
TEST(Shards, UpdateLikeTheWhole) {
  on_rank([](Rank& rank) {
    constexpr Count kSize = 103;
    Source source(4);
    const Doubles start = source.numbers(kSize);
    const Tensor grad = put(rank, kSize, source.numbers(kSize));
    const auto run = [&](Count parts) {
      Tensor w = put(rank, kSize, start);
      Tensor m = rank.zeros(kSize, Kind::optimizer);
      Tensor v = rank.zeros(kSize, Kind::optimizer);
      for (int step = 1; step <= 3; ++step) {
        for (Count p = 0; p < parts; ++p) {
          const Range range{p * kSize / parts, (p + 1) * kSize / parts};
          adam(w.part(range), grad.part(range), m.part(range), v.part(range), {.weight_decay = 0.1F, .step = step});
          axpy(w.part(range), -0.3F, grad.part(range));
          copy(w.part(range), gelu(w.part(range)));
        }
      }
      return get(w);
    };
    const Floats whole = run(1);
    for (const Count parts : {2, 3, 7, 103}) EXPECT_EQ(run(parts), whole) << parts << " parts";
  });
}

}  // namespace
}  // namespace shardlings::ops_test
