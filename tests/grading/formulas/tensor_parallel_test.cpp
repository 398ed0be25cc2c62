// Tools for graders of divided layers: bytes against the runtime's own count, and what ranks hold.
#include "grading/formulas/tensor_parallel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grading/reference/parts.h"
#include "world/world.h"

namespace shardlings::grading {
namespace {

front::RunReport run_on(int ranks, const std::function<void(Rank&)>& body) {
  world::Options options;
  options.ranks = ranks;
  return world::run(options, body);
}

TEST(RingTraffic, AreWhatTheRuntimeCounts) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const Count n : {1, 7, 24, 30}) {
      const auto report = run_on(ranks, [n](Rank& rank) {
        Tensor data = rank.zeros(n, Kind::other);
        Group& world = rank.world();
        world.all_reduce(data, ReduceOp::sum);
        world.reduce_scatter(data, data.part(world.mine(n)), ReduceOp::sum);
        world.all_gather(data.part(world.mine(n)), data);
      });
      ASSERT_FALSE(report.failure) << report.failure->message;
      for (int rank = 0; rank < ranks; ++rank) {
        const front::Counters& counters = report.ranks[static_cast<std::size_t>(rank)].counters;
        EXPECT_EQ(counters.bytes_sent(front::Collective::all_reduce).value(),
                  formulas::all_reduce_bytes(n, ranks, rank));
        EXPECT_EQ(counters.bytes_sent(front::Collective::reduce_scatter).value(),
                  formulas::reduce_scatter_bytes(n, ranks, rank));
        EXPECT_EQ(counters.bytes_sent(front::Collective::all_gather).value(),
                  formulas::all_gather_bytes(n, ranks, rank));
      }
    }
  }
}

/// A check on a run with one output, "y".
class OnOutput : public testing::Test {
 protected:
  OnOutput() {
    kase_.ranks = 2;
    result_.outputs["y"] = {1, 2, {1, 2}, true, "", {}};
  }
  judge::CheckContext check() {
    return {kase_, result_, []() -> const reference::Reference& { throw std::logic_error("none"); }, verdict_};
  }
  cases::Case kase_;
  wire::Result result_;
  verdict::CheckVerdict verdict_;
};

TEST_F(OnOutput, ReplicasThatAreEqualStandForAllRanks) {
  EXPECT_EQ(formulas::by_rank(check(), "y"), (reference::Layers{{1, 2}, {1, 2}}));
  EXPECT_EQ(formulas::sum_over_ranks(formulas::by_rank(check(), "y")), (std::vector<double>{2, 4}));
}

TEST_F(OnOutput, ReplicasThatDifferAreThoseOfTheRanks) {
  result_.outputs["y"].replicas = {{1, 2}, {3, 5}};
  EXPECT_EQ(formulas::by_rank(check(), "y"), (reference::Layers{{1, 2}, {3, 5}}));
}

TEST_F(OnOutput, WhatIsMissingHasNoRanks) {
  EXPECT_TRUE(formulas::by_rank(check(), "x").empty());
  result_.outputs["y"].complete = false;
  EXPECT_TRUE(formulas::by_rank(check(), "y").empty());
}

/// What diagnose_sum says where two ranks make the terms (1, 2) and (10, 20) of a sum with the bias (100, 300).
class OfSum : public OnOutput {
 protected:
  std::string diagnosis(const std::vector<float>& first, const std::vector<float>& second) {
    verdict_ = {};
    result_.outputs["y"] = {1, 2, first, true, "", {}};
    if (first != second) result_.outputs["y"].replicas = {first, second};
    judge::CheckContext on_output = check();
    formulas::diagnose_sum_and_bias(on_output, "y", {111, 322}, {100, 300}, "mine");
    return verdict_.diagnosis;
  }
};

TEST_F(OfSum, EveryMistakeHasItsName) {
  EXPECT_EQ(diagnosis({1, 2}, {10, 20}), "mine");
  EXPECT_EQ(diagnosis({101, 302}, {110, 320}), "mine") << "each with its bias";
  EXPECT_EQ(diagnosis({101, 302}, {10, 20}), "mine") << "one with the bias";
  EXPECT_EQ(diagnosis({211, 622}, {211, 622}), "bias_on_every_rank");
  EXPECT_EQ(diagnosis({11, 22}, {11, 22}), "bias_missing");
  EXPECT_EQ(diagnosis({105.5, 311}, {105.5, 311}), "averaged");
  EXPECT_EQ(diagnosis({122, 344}, {122, 344}), "reduced_twice") << "before the bias";
  EXPECT_EQ(diagnosis({222, 644}, {222, 644}), "reduced_twice") << "behind it";
}

TEST_F(OfSum, OtherNumbersHaveNone) {
  EXPECT_EQ(diagnosis({111, 322}, {111, 322}), "");
  EXPECT_EQ(diagnosis({5, -7}, {5, -7}), "");
  EXPECT_EQ(diagnosis({5, -7}, {8, 2}), "");
}

TEST(CallDifference, IsInPiecesIfOtherCallsSendWhatIsMissing) {
  const auto of = [](std::int64_t bytes) {
    front::Event event;
    event.bytes = Bytes(bytes);
    return event;
  };
  const formulas::Call sum{front::Collective::all_reduce, Bytes(200)};
  EXPECT_TRUE((formulas::CallDifference{{of(100), of(100)}, {sum}}.is_in_pieces()));
  EXPECT_TRUE((formulas::CallDifference{{of(112), of(112)}, {sum}}.is_in_pieces())) << "parts are rounded up";
  EXPECT_FALSE((formulas::CallDifference{{of(140), of(100)}, {sum}}.is_in_pieces()));
  EXPECT_FALSE((formulas::CallDifference{{of(8)}, {}}.is_in_pieces())) << "on top of all that is expected";
  EXPECT_TRUE((formulas::CallDifference{{}, {sum}}.lacks_only(front::Collective::all_reduce)));
  EXPECT_FALSE((formulas::CallDifference{{}, {sum}}.lacks_only(front::Collective::all_gather)));
  EXPECT_FALSE((formulas::CallDifference{}.lacks_only(front::Collective::all_reduce)));
}

TEST(Calls, OfARankAreCountedAndTheirLinesFound) {
  wire::Result result;
  int sum_again = 0, product_again = 0;
  result.report = run_on(2, [&](Rank& rank) {
    const Tensor a = rank.zeros({2, 2}, Kind::other);
    Tensor b = matmul(a, a, nn);
    Group& world = rank.world();
    world.barrier();
    world.all_reduce(b, ReduceOp::sum);
    if (rank.id() == 0) product_again = __LINE__ + 1;
    b = matmul(a, b, nt);
    if (rank.id() == 0) sum_again = __LINE__ + 1;
    world.all_reduce(b, ReduceOp::sum);
  });
  cases::Case kase;
  kase.ranks = 2;
  verdict::CheckVerdict verdict;
  const judge::CheckContext check(
      kase, result, []() -> const reference::Reference& { throw std::logic_error("none"); }, verdict);
  EXPECT_EQ(formulas::num_collectives(check, 0), 2);
  EXPECT_EQ(formulas::num_products(check, 0), 2);
  EXPECT_EQ(formulas::num_calls(check, 0, "attention"), 0);
  EXPECT_EQ(formulas::product_flops(check, 0), Flops(32));
  EXPECT_EQ(formulas::place_of_product(check, 0, 1).line, product_again);
  EXPECT_EQ(formulas::place_of_product(check, 0, 2).line, 0);
  const formulas::Call sum{front::Collective::all_reduce, Bytes(formulas::all_reduce_bytes(4, 2, 0))};
  EXPECT_EQ(formulas::place_of_unexpected(check, 0, {sum}).line, sum_again);
  EXPECT_EQ(formulas::place_of_unexpected(check, 0, {sum, sum, sum}).line, sum_again) << "the last one";
}

TEST(NormBackwardAtOutput, IsThatOfTheInputWhereTheTwoAreTheSame) {
  // Rows of mean 0 and variance 1 - epsilon, which the norm with weight 1 and bias 0 leaves as they are.
  const double one = std::sqrt(1 - 1e-5);
  const std::vector<double> x{one, -one, -one, one}, weight{1, 1, 1, 1}, bias{0, 0, 0, 0}, grad{1, 2, 3, 5};
  const auto norm = reference::make_norm<double>(4, 0, 4);
  const std::vector<double> weights{1, 1, 1, 1, 0, 0, 0, 0};
  norm->forward(weights, x);
  std::vector<double> unused(8);
  const std::vector<double> right = norm->backward(weights, grad, unused);
  const std::vector<double> found = formulas::norm_backward_at_output(x, weight, bias, grad);
  for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(found[i], right[i], 1e-6);
}

TEST(PlusRow, AddsToEveryRow) {
  EXPECT_EQ(formulas::plus_row({1, 2, 3, 4}, -2, {1, 10}), (std::vector<double>{-1, -18, 1, -16}));
}

}  // namespace
}  // namespace shardlings::grading
