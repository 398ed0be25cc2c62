// What data are about flows with them: timelines number communication by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/harness_calls.h"
#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using detail::harness::mark_layer;
using front::EventKind;
using support::load;
using ::testing::Each;
using ::testing::ElementsAre;

/// The layers that a rank's events of one kind are about, in program order.
std::vector<int> layers_of(const front::RunReport& report, int rank, EventKind kind) {
  std::vector<int> layers;
  for (const front::Event& event : report.ranks.at(static_cast<std::size_t>(rank)).trace.events) {
    if (event.kind == kind) layers.push_back(event.label.layer);
  }
  return layers;
}

class Labels : public OnEveryWorld {};

TEST_P(Labels, OfWhatIsReducedAreShown) {
  const int ranks = least(1);
  const auto report = run(ranks, [](Rank& rank) {
    Tensor first = load(rank, {1, 2, 3}), second = load(rank, {4, 5});
    mark_layer(rank, first, 7);
    mark_layer(rank, second, 2);
    Work late = rank.world().all_reduce_async(first, ReduceOp::sum);
    rank.world().all_reduce(second, ReduceOp::sum);
    late.wait();
  });
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_THAT(layers_of(report, rank, EventKind::collective), ElementsAre(2, 7)) << "in the order of the waits";
  }
}

TEST_P(Labels, ArePassedOnToWhatIsGathered) {
  const int ranks = least(2);
  const auto report = run(ranks, [](Rank& rank) {
    Tensor shard = load(rank, {1, 2});
    mark_layer(rank, shard, 4);
    Tensor whole = rank.empty(2 * rank.size(), Kind::parameter);
    rank.world().all_gather(shard, whole);
    rank.world().all_reduce(whole, ReduceOp::sum);
    Tensor larger = rank.empty(4 * rank.size(), Kind::parameter);
    rank.world().all_gather(shard, larger.part({0, 2 * rank.size()}));
    rank.world().all_reduce(larger, ReduceOp::sum);  // half of it is about something else
  });
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_THAT(layers_of(report, rank, EventKind::collective), ElementsAre(4, 4, 4, -1));
  }
}

TEST_P(Labels, TravelWithMessages) {
  const auto report = run(2, [](Rank& rank) {
    Tensor data = load(rank, {1, 2});
    if (rank.id() == 0) {
      mark_layer(rank, data, 3);
      rank.world().send(data, 1);
    } else {
      Tensor got = rank.empty(2, Kind::activation);
      rank.world().recv(got, 0);
      scale(got, 2);
    }
  });
  EXPECT_THAT(layers_of(report, 0, EventKind::send), ElementsAre(3));
  EXPECT_THAT(layers_of(report, 1, EventKind::recv), ElementsAre(3));
  EXPECT_THAT(layers_of(report, 1, EventKind::operation), Each(3));
}

INSTANTIATE_TEST_SUITE_P(AllWorlds, Labels, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
