// show() on every kind of world: each rank's own look, and a run that knows nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using support::load;
using ::testing::HasSubstr;

/// A program with messages, memory and waits; it shows everything at every point, or nothing.
void program(Rank& rank, bool shows) {
  const auto look = [shows](ConstView x, const char* label) {
    if (shows) show(x, label);
  };
  const auto id = static_cast<float>(rank.id());
  Tensor x = load(rank, {id, id + 1, id + 2, id + 3}, {2, 2});
  look(x, "own");
  Work sum = rank.world().all_reduce_async(x, ReduceOp::sum);
  Tensor y = rank.zeros({2, 2}, Kind::activation);
  look(y, "beside it");
  sum.wait();
  look(x, "sum");
  add(y, x);
  support::publish(rank, "y" + std::to_string(rank.id()), y);
}

class ShowOnWorlds : public OnEveryWorld {};

TEST_P(ShowOnWorlds, EachRankShowsItsOwnInTheOrderOfItsProgram) {
  const int ranks = least(2);
  const auto report = run(ranks, [](Rank& rank) { program(rank, true); });
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& shown = report.ranks[static_cast<std::size_t>(rank)].shows.kept;
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_EQ(shown[0].label, "own");
    EXPECT_EQ(shown[0].min, rank);
    EXPECT_EQ(shown[1].norm, 0);
    EXPECT_EQ(shown[2].min, ranks * (ranks - 1) / 2) << "after the wait the sum is there";
  }
}

TEST_P(ShowOnWorlds, NothingElseOfTheRunIsDifferent) {
  const int ranks = least(2);
  const auto shown = run(ranks, [](Rank& rank) { program(rank, true); });
  auto plain = run(ranks, [](Rank& rank) { program(rank, false); });
  for (std::size_t rank = 0; rank < plain.ranks.size(); ++rank) {
    EXPECT_TRUE(plain.ranks[rank].shows.kept.empty());
    plain.ranks[rank].shows = shown.ranks[rank].shows;
  }
  support::expect_same(shown, plain);
}

TEST_P(ShowOnWorlds, WhatIsInFlightCannotBeLookedAt) {
  const auto body = [](Rank& rank) {
    Tensor x = load(rank, {1, 2});
    Work sum = rank.world().all_reduce_async(x, ReduceOp::sum);
    show(x);
    sum.wait();
  };
  const auto report = GetParam().run(support::options_for(least(2)), {1, 50}, body);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
  EXPECT_THAT(report.failure->message, HasSubstr("show reads elements [0, 2)"));
}

INSTANTIATE_TEST_SUITE_P(AllWorlds, ShowOnWorlds, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
