// A folded run counts what a whole one does, on every rank.
#include "front/group/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "world/use_backend.h"
#include "world/world.h"

namespace shardlings::front {
namespace {

using testing::HasSubstr;

world::Options options_of(int ranks, int node, int folded_replicas) {
  world::Options options;
  options.ranks = ranks;
  options.cluster.ranks_per_node = node;
  options.cluster.links = {LinkSpeed{Nanos(1'000), 1e9}, LinkSpeed{Nanos(10'000), 1e8}};
  options.cluster.table.forward = Nanos(1'000);
  options.folded_replicas = folded_replicas;
  use_backend(options, world::Backend::dry);
  options.trace = false;
  return options;
}

/// Sums along both axes of a grid of replicas of so many ranks, and all together. All parts are equally long, since
/// replicas with longer parts are not equal.
void body(Rank& rank, int each) {
  const int replica = rank.id() / each;
  Group inside = rank.world().split(replica, rank.id(), "inside");
  Group across = rank.world().split(rank.id() % each, rank.id(), "across");
  const Count replicas = across.size();
  Tensor x = rank.zeros({each * replicas * replicas}, Kind::gradient);
  inside.all_reduce(x, ReduceOp::sum);
  Tensor part = rank.zeros({across.mine(x.size()).size()}, Kind::gradient);
  across.reduce_scatter(x, part, ReduceOp::sum);
  if (rank.id() % each == 0) across.all_reduce(part, ReduceOp::sum);
  across.all_gather(part, x);
  rank.world().all_reduce(part, ReduceOp::sum);
}

TEST(Fold, CountsWhatAWholeRunDoes) {
  struct Layout {
    int each, replicas, node;
  };
  // A node holds a replica, several, a part of one, and neither.
  for (const Layout& layout : {Layout{4, 16, 4}, {2, 32, 8}, {16, 8, 8}, {1, 64, 8}, {4, 32, 6}}) {
    const int each = layout.each, replicas = layout.replicas,
              node = layout.node;  // clang captures no structured binding
    const auto run = [&](int folded) {
      return world::run(options_of(each * replicas, node, folded), [&](Rank& rank) { body(rank, each); });
    };
    const RunReport whole = run(0), folded = run(replicas);
    ASSERT_FALSE(whole.failure) << whole.failure->message;
    ASSERT_FALSE(folded.failure) << folded.failure->message;
    const Fold fold(each * replicas, replicas, node);
    EXPECT_LT(fold.running(), replicas) << each << " " << replicas << " " << node;
    for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
      EXPECT_EQ(folded.ranks[rank].counters, whole.ranks[rank].counters)
          << "rank " << rank << " of " << replicas << " replicas of " << each << ", " << node << " on a node";
    }
  }
}

TEST(Fold, RunsTheFirstTheLastAndTwoOfEachPlaceOnANode) {
  const Fold fold(512, 128, 8);  // two replicas of four ranks on a node
  EXPECT_EQ(fold.running(), 2 + 2 * 2);
  EXPECT_FALSE(fold.is_whole());
  for (const int rank : {0, 3, 4, 511, 508, 16}) EXPECT_TRUE(fold.runs(rank)) << rank;
  EXPECT_EQ(fold.stands_for(4 * 5 + 2), 4 * 1 + 2) << "odd replicas are the second ones of their nodes";
  EXPECT_EQ(fold.stands_for(4 * 6 + 1), 4 * 2 + 1);
  EXPECT_EQ(fold.twins().size(), 2U);
  EXPECT_TRUE(Fold(32, 4, 8).is_whole()) << "four replicas alike: the first, the last, and two between them";
}

// Replicas in two halves, as for hybrid sharding: between the first and the last one anything could be.
TEST(Fold, RefusesGroupsThatDoNotGrowEvenly) {
  const RunReport report = world::run(
      options_of(128, 8, 64), [](Rank& rank) { rank.world().split(rank.id() < 64 ? 0 : 1, rank.id(), "halves"); });
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(report.failure->message, HasSubstr("do not grow evenly with the replicas"));
}

// Inside a replica all ranks run. Across replicas some do not, and send nothing.
TEST(Fold, ReceivesFromAnyRankOfAReplicaAndOfNoOtherGroup) {
  const auto run = [](bool across) {
    return world::run(options_of(128, 8, 64), [across](Rank& rank) {
      const int replica = rank.id() / 2, place = rank.id() % 2;
      Group group = across ? rank.world().split(place, replica) : rank.world().split(replica, place);
      Tensor x = rank.zeros(4, Kind::buffer);
      if (group.rank() == 0) group.recv_any(x);
      if (group.rank() == 1) group.send(x, 0);
    });
  };
  EXPECT_FALSE(run(false).failure);
  ASSERT_TRUE(run(true).failure);
  EXPECT_THAT(run(true).failure->message, HasSubstr("ranks that are mirrored send none"));
}

}  // namespace
}  // namespace shardlings::front
