// The judge's attention with shared heads of keys: against its other attention, differences, and masks.
#include "grading/reference/grouped_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "grading/reference/part_reference.h"

namespace shardlings::grading::reference {
namespace {

std::vector<float> drawn(Count n, std::uint64_t stream) {
  std::vector<float> numbers;
  for (Count i = 0; i < n; ++i) {
    numbers.push_back(static_cast<float>(below_at(2001, 5, static_cast<std::uint64_t>(i), stream)) / 1000 - 1);
  }
  return numbers;
}

GroupedInputs inputs(Count heads, Count key_heads) {
  GroupedInputs in;
  in.sequence = 7;
  in.batch = 2;
  in.heads = heads;
  in.key_heads = key_heads;
  in.head_size = 3;
  const Count tokens = in.sequence * in.batch;
  in.q = drawn(tokens * heads * 3, 1);
  in.k = drawn(tokens * key_heads * 3, 2);
  in.v = drawn(tokens * key_heads * 3, 3);
  in.grad_y = drawn(tokens * heads * 3, 4);
  return in;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-9) << i;
}

/// With a head of keys for each head of queries it is the attention of the judge's transformer.
TEST(GroupedAttention, IsTheOtherOneWhereNothingIsShared) {
  const GroupedInputs in = inputs(2, 2);
  PartInputs whole;
  for (std::size_t token = 0; token < 14; ++token) {
    for (const auto* part : {&in.q, &in.k, &in.v}) {
      const auto begin = part->begin() + static_cast<std::ptrdiff_t>(token * 6);
      whole.x.insert(whole.x.end(), begin, begin + 6);
    }
  }
  whole.grad_output = in.grad_y;
  const PartReference want = part_reference(whole, []<class Real>() { return make_attention<Real>(2, 6, 2); });
  const GroupedNumbers got = grouped_attention(in, causal);
  expect_near(got.y, want.output);
  std::vector<double> grads;
  for (std::size_t token = 0; token < 14; ++token) {
    for (const auto* part : {&got.grad_q, &got.grad_k, &got.grad_v}) {
      const auto begin = part->begin() + static_cast<std::ptrdiff_t>(token * 6);
      grads.insert(grads.end(), begin, begin + 6);
    }
  }
  expect_near(grads, want.grad_input);
}

/// Shared heads: as if each head of queries had a copy, whose gradients add up.
TEST(GroupedAttention, SharesHeadsOfKeys) {
  const GroupedInputs shared = inputs(4, 2);
  GroupedInputs copied = shared;
  copied.key_heads = 4;
  const auto each = [](const std::vector<float>& numbers) {
    std::vector<float> twice;
    for (std::size_t head = 0; head < numbers.size(); head += 3) {
      for (int copy = 0; copy < 2; ++copy) {
        twice.insert(twice.end(), numbers.begin() + static_cast<std::ptrdiff_t>(head),
                     numbers.begin() + static_cast<std::ptrdiff_t>(head + 3));
      }
    }
    return twice;
  };
  copied.k = each(shared.k);
  copied.v = each(shared.v);
  const GroupedNumbers got = grouped_attention(shared, causal), want = grouped_attention(copied, causal);
  expect_near(got.y, want.y);
  expect_near(got.lse, want.lse);
  expect_near(got.grad_q, want.grad_q);
  std::vector<double> summed(got.grad_v.size(), 0.0);
  for (std::size_t i = 0; i < want.grad_v.size(); ++i) summed[i / 6 * 3 + i % 3] += want.grad_v[i];
  expect_near(got.grad_v, summed);
}

TEST(GroupedAttention, AddsGradientsOfSomePairsAlone) {
  const GroupedInputs in = inputs(2, 1);
  const auto even = [](Count query, Count) { return query % 2 == 0; };
  const auto odd = [](Count query, Count) { return query % 2 == 1; };
  const GroupedNumbers all = grouped_attention(in, causal), a = grouped_attention(in, causal, even),
                       b = grouped_attention(in, causal, odd);
  expect_near(a.y, all.y);
  std::vector<double> sum = a.grad_k;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b.grad_k[i];
  expect_near(sum, all.grad_k);
}

TEST(GroupedAttention, OfNoKeyIsNothing) {
  const GroupedNumbers none = grouped_attention(inputs(2, 1), [](Count query, Count key) { return key < query; });
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(none.y[i], 0) << "the first position sees no key";
  EXPECT_TRUE(std::isinf(none.lse[0]));
  EXPECT_FALSE(std::isinf(none.lse.back()));
  EXPECT_FALSE(std::isnan(none.grad_q[0]));
}

}  // namespace
}  // namespace shardlings::grading::reference
