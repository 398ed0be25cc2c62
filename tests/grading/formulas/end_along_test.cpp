// When a step ends along given orders: golden values of simulations with links that take any number of messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "grading/formulas/pipeline.h"

namespace shardlings::grading::formulas {
namespace {

constexpr Nanos kOneMs{1'000'000};

using WarmUp = std::function<int(const Pipeline& pipeline, int rank)>;

/// Of stages of 1 + 2 ms, cut into v chunks each, in milliseconds.
double end_with(const Pipeline& pipeline, const WarmUp& warm_up, Nanos latency = Nanos(0)) {
  std::vector<Order> orders;
  for (int rank = 0; rank < pipeline.p; ++rank) orders.push_back(order_of(pipeline, warm_up(pipeline, rank)));
  const StageTime chunk{Nanos(kOneMs.value() / pipeline.v), Nanos(2 * kOneMs.value() / pipeline.v)};
  const std::vector times(static_cast<std::size_t>(pipeline.p * pipeline.v), chunk);
  return end_along(pipeline, orders, times, latency) / kOneMs;
}

TEST(EndAlong, IsThatOfTheLiterature) {
  EXPECT_EQ(end_with({2, 4, 1, {}}, one_f_one_b_warm_up), 15);
  EXPECT_EQ(end_with({4, 8, 1, {}}, one_f_one_b_warm_up), 33);
  EXPECT_EQ(end_with({4, 8, 1, {}}, [](const Pipeline& of, int) { return gpipe_warm_up(of); }), 33);
  EXPECT_EQ(end_with({4, 8, 2, {}}, one_f_one_b_warm_up), 28.5);
}

TEST(EndAlong, HasGapsWherePDoesNotDivideM) {
  EXPECT_EQ(end_with({4, 6, 2, {}}, one_f_one_b_warm_up), 18 + 9.5);
  EXPECT_EQ(end_with({4, 10, 2, {}}, one_f_one_b_warm_up), 30 + 9.5);
}

TEST(EndAlong, PaysForTheLatency) {
  const Nanos latency(250'000);
  EXPECT_EQ(end_with({4, 8, 1, {}}, one_f_one_b_warm_up, latency), 37);
  EXPECT_EQ(end_with({4, 32, 1, {}}, one_f_one_b_warm_up, latency), 118);
  EXPECT_EQ(end_with({4, 8, 1, {}}, eager_warm_up, latency), 34.5);
}

TEST(EndAlong, IsNothingForOrdersThatWaitForOneAnother) {
  const Pipeline pipeline{2, 1, 1, {}};
  const Order backward_first = {{false, 0, 0}, {true, 0, 0}};
  const std::vector times(2, StageTime{kOneMs, kOneMs});
  EXPECT_EQ(end_along(pipeline, {backward_first, order_of(pipeline, 0)}, times), Nanos(0));
}

}  // namespace
}  // namespace shardlings::grading::formulas
