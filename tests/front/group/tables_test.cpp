// What ranks know of their groups, counted: with a copy for each rank it would grow with the square of their number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "back/engine/engine.h"
#include "front/group/counted_memory.h"
#include "front/group/programs.h"
#include "front/group/shared_control.h"

namespace shardlings::test {
namespace {

/// The groups that three-dimensional parallelism needs, as a harness makes them: with the world a rank is in six or
/// seven.
void make_groups(Rank& rank, int t, int p) {
  const Grid grid(rank.world(), {{"dp", rank.size() / (t * p)}, {"pp", p}, {"tp", t}});
  Group pipeline = grid.along("pp");
  const int stage = pipeline.rank();
  pipeline.split(0, stage, "down");
  pipeline.split(0, stage, "up");
  pipeline.split(stage == 0 || stage == p - 1 ? 0 : kNobody, stage, "ends");
  grid.along("tp");
  grid.along("dp");
}

/// Bytes for each rank, on average.
struct Cost {
  std::int64_t world;   ///< all that a rank is before it has called anything, its place in the world included
  std::int64_t groups;  ///< what the other groups add: tables, chains and the splits themselves
};

Cost cost_of_ranks(int ranks, int t, int p) {
  world::Options options = world_of(ranks);
  options.trace = false;
  options.make_engine = [] { return back::make_fibers_engine(); };
  const std::int64_t nothing = bytes_held();
  std::int64_t before = 0, after = 0;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    rank.world().barrier();
    if (rank.id() == 0) before = bytes_held();
    make_groups(rank, t, p);
    rank.world().barrier();
    if (rank.id() == 0) after = bytes_held();
    rank.world().barrier();
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
  return {(before - nothing) / ranks, (after - before) / ranks};
}

TEST(GroupTables, OfARankDoNotGrowWithTheWorld) {
  const Cost few = cost_of_ranks(64, 4, 4);
  const Cost many = cost_of_ranks(1024, 8, 8);
  RecordProperty("bytes_of_64", fmt::format("{} and {}", few.world, few.groups));
  RecordProperty("bytes_of_1024", fmt::format("{} and {}", many.world, many.groups));
  EXPECT_LT(many.world, few.world + 1000) << "a copy of the world's members would be 3840 more";
  EXPECT_LT(many.groups, few.groups + 1000) << "16 times as many ranks, 11 times as many groups";
  EXPECT_LT(many.groups, 3000);
}

TEST(GroupTables, AreOneForAllMembers) {
  front::Cluster cluster = world_of(8).cluster;
  const auto engine = back::make_threads_engine();
  const auto fabric = back::make_in_process_fabric();
  front::SharedControl control(8, cluster, *engine, *fabric, nullptr, true);
  std::vector<front::Membership> made(8);
  engine->run(8, [&](int rank) {
    front::CallRecord record;
    record.signature.kind = back::Collective::split;
    record.signature.members = 8;
    record.color = rank % 2;
    const front::Ticket ticket = control.join(rank, 0);
    control.post(rank, ticket, record, {});
    made[static_cast<std::size_t>(rank)] = *control.wait_split(rank, ticket, {}).made;
  });
  for (int rank = 0; rank < 8; ++rank) {
    const front::Membership& in = made[static_cast<std::size_t>(rank)];
    EXPECT_EQ(in.group, made[static_cast<std::size_t>(rank % 2)].group) << "rank " << rank;
    EXPECT_EQ(in.member, rank / 2);
    EXPECT_EQ(in.group->members->at(static_cast<std::size_t>(in.member)), rank);
    EXPECT_EQ(in.group->number, 1U) << "after the world";
    EXPECT_EQ(control.world(rank).group, control.world(0).group);
  }
}

TEST(GroupTables, OfTracesHaveOneListForAllMembers) {
  world::Options options = world_of(4);
  options.trace = true;
  const front::RunReport report = world::run(options, [](Rank& rank) {
    rank.world().barrier();
    for (int i = 0; i < 2; ++i) rank.world().split(rank.id() % 2, rank.id(), "half").barrier();
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
  const auto& ranks = report.ranks;
  for (const front::RankReport& rank : ranks) {
    EXPECT_EQ(rank.trace.groups, (std::vector<std::string>{"world", "half"})) << "of one name and the same members";
    EXPECT_EQ(rank.trace.members[0], ranks[0].trace.members[0]);
  }
  EXPECT_EQ(ranks[0].trace.members[1], ranks[2].trace.members[1]);
  EXPECT_EQ(members_of(ranks[2].trace, 1), (std::vector<int>{0, 2}));
  EXPECT_EQ(members_of(ranks[1].trace, 1), (std::vector<int>{1, 3}));
}

}  // namespace
}  // namespace shardlings::test
