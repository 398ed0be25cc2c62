// Ranks that die as the case wants it: what of their calls happens, who is told when, and how the others go on. The
// same on every kind of world and in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/dtype.h"
#include "contract/mortal.h"
#include "contract/on_every_world.h"
#include "front/clock/cost.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::Death;
using front::RunReport;
using support::load;
using support::publish;
using support::published;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Nanos kDetection(50'000);

class Deaths : public OnEveryWorld {
 protected:
  static world::Options options(int ranks, std::vector<Death> deaths) {
    world::Options options = support::options_for(ranks);
    options.deaths = std::move(deaths);
    options.detection = kDetection;
    return options;
  }
  RunReport run_and_compare(int ranks, std::vector<Death> deaths, const support::Body& body) const {
    return support::run_and_compare(GetParam(), options(ranks, std::move(deaths)), {1, 50}, body);
  }
};

// The sum that rank 1 does not call any more is nobody's; the one before it is everybody's.
TEST_P(Deaths, TheOthersAreToldAndGoOn) {
  for (const int ranks : possible({2, 3, 4, 8})) {
    const RunReport report = run_and_compare(ranks, {{1, Nanos(1)}}, [](Rank& rank) {
      begin_measured(rank);
      Tensor x = load(rank, {1, 2});
      try {
        pass_time(rank, 1000);
        rank.world().all_reduce(x, ReduceOp::sum);
        publish(rank, "never", x);
      } catch (const PeerFailed&) {
        const Survivors alive = rank.survivors(10 * rank.id());
        publish_counts(rank, "alive", {alive.ranks.begin(), alive.ranks.end()});
        publish_counts(rank, "said", alive.said);
        Group group = alive.group;
        group.all_reduce(x, ReduceOp::sum);
        publish(rank, "x", x);
      }
    });
    ASSERT_FALSE(report.failure) << report.failure->message;
    const auto live = static_cast<float>(ranks - 1);
    for (int r = 0; r < ranks; ++r) {
      const front::RankReport& of = report.ranks[static_cast<std::size_t>(r)];
      if (r == 1) {
        EXPECT_EQ(of.counters.died, Nanos(1));
        EXPECT_EQ(of.counters.end, Nanos(1));
        EXPECT_TRUE(of.published.empty());
        continue;
      }
      EXPECT_EQ(of.counters.died, std::nullopt);
      EXPECT_GE(of.counters.end, Nanos(1) + kDetection);
      EXPECT_THAT(published(report, r, "x"), ElementsAre(live, 2 * live));
      EXPECT_EQ(published(report, r, "alive").size(), static_cast<std::size_t>(ranks - 1));
      EXPECT_EQ(published(report, r, "said")[1 < ranks - 1 ? 1 : 0], ranks > 2 ? 20 : 0);
    }
  }
}

// What a rank has called before its death, it has called.
TEST_P(Deaths, WhatAllHaveCalledHappens) {
  if (!supports(3)) GTEST_SKIP() << lacks(3);
  const RunReport report = run_and_compare(3, {{2, Nanos(1)}}, [](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1}), y = load(rank, {10}), z = load(rank, {5});
    try {
      Work first = rank.world().all_reduce_async(x, ReduceOp::sum);
      Work from_two = rank.id() == 2 ? rank.world().send_async(z, 0) : Work();
      pass_time(rank, 50'000);
      Work second = rank.world().all_reduce_async(y, ReduceOp::sum);
      if (rank.id() == 0) rank.world().recv(z, 2);
      second.wait();
      first.wait();
      from_two.wait();
    } catch (const PeerFailed&) {
      // Nothing is in flight any more: both may be written.
      publish(rank, "x", x);
      publish(rank, "y", y);
      publish(rank, "z", z);
      scale(x, 2);
      scale(y, 2);
    }
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (const int r : {0, 1}) {
    EXPECT_THAT(published(report, r, "x"), ElementsAre(3));
    EXPECT_THAT(published(report, r, "y"), ElementsAre(10));
    EXPECT_THAT(published(report, r, "z"), ElementsAre(5));
  }
}

TEST_P(Deaths, AreKnownOnlyAfterTheTimeOfDetection) {
  const int ranks = least(2);
  const RunReport report = run_and_compare(ranks, {{ranks - 1, Nanos(2'000)}}, [&](Rank& rank) {
    begin_measured(rank);
    try {
      if (rank.id() == ranks - 1) pass_time(rank, 20'000);
      rank.world().barrier();
      rank.world().barrier();
    } catch (const PeerFailed& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank.survivors()"));
    }
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (int r = 0; r < ranks - 1; ++r) {
    const front::Counters& counters = report.ranks[static_cast<std::size_t>(r)].counters;
    EXPECT_EQ(counters.end, Nanos(2'000) + kDetection);
    EXPECT_EQ(counters.waited_for_peers, counters.end);
  }
}

// A Work that can end does, whoever has died; one that cannot says so when it is waited for. Neither has to be waited
// for.
TEST_P(Deaths, WorkUnderWayIsOverOrRevoked) {
  const int ranks = least(2);
  const RunReport report = run_and_compare(ranks, {{ranks - 1, {}, 5}}, [&](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1}), y = load(rank, {1}), z = load(rank, {1});  // calls 1 to 3
    Work over = rank.world().all_reduce_async(x, ReduceOp::sum);
    // The last rank dies instead of its call 5.
    Work revoked = rank.world().all_reduce_async(y, ReduceOp::sum);
    Work dropped = rank.world().all_reduce_async(z, ReduceOp::sum);
    EXPECT_THROW(rank.world().barrier(), PeerFailed);
    over.wait();
    EXPECT_THROW(revoked.wait(), PeerFailed);
    publish(rank, "x", x);
    EXPECT_THROW(rank.world().barrier(), PeerFailed) << "the world is revoked";
    EXPECT_EQ(rank.survivors().group.size(), ranks - 1);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (int r = 0; r < ranks - 1; ++r) EXPECT_THAT(published(report, r, "x"), ElementsAre(static_cast<float>(ranks)));
}

// Ranks that wait for one who has been told, and not for the dead one, are told, too; and those that do not wait, at
// their next call on a group.
TEST_P(Deaths, AreToldToAllWhoeverTheyWaitFor) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const RunReport report = run_and_compare(4, {{3, Nanos(1)}}, [](Rank& rank) {
    Group pair = rank.world().split(rank.id() / 2, rank.id());
    begin_measured(rank);
    Tensor x = load(rank, {1});
    pass_time(rank, 1000);
    try {
      if (rank.id() == 0) rank.world().recv(x, 1);  // rank 1 does not come to it
      pair.barrier();
      rank.world().barrier();
      if (rank.id() == 1) rank.world().send(x, 0);
      publish(rank, "never", x);
    } catch (const PeerFailed&) {
      const Survivors alive = rank.survivors();
      publish_counts(rank, "alive", {alive.ranks.begin(), alive.ranks.end()});
    }
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (const int r : {0, 1, 2}) EXPECT_THAT(published(report, r, "alive"), ElementsAre(0, 1, 2));
}

TEST_P(Deaths, MayComeOneAfterAnother) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const std::vector<Death> deaths = {{1, Nanos(1)}, {0, Nanos(400'000)}};
  const RunReport report = run_and_compare(4, deaths, [](Rank& rank) {
    begin_measured(rank);
    Group group = rank.world();
    std::vector<Count> sizes{group.size()};
    for (int step = 0; step < 40;) {
      Tensor x = load(rank, {1});
      try {
        pass_time(rank, 20'000);
        group.all_reduce(x, ReduceOp::sum);
        if (rank.read(x) == static_cast<float>(group.size())) ++step;
      } catch (const PeerFailed&) {
        const Survivors alive = rank.survivors(step);
        group = alive.group;
        sizes.push_back(group.size());
        for (const Count said : alive.said) EXPECT_EQ(said, step) << "an operation happens for all or for none";
      }
    }
    publish_counts(rank, "sizes", sizes);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (const int r : {2, 3}) EXPECT_THAT(published(report, r, "sizes"), ElementsAre(4, 3, 2));
}

// A rank that is not needed yet waits in survivors(); it is called when somebody has died, or when all others are done.
TEST_P(Deaths, BringASpareIn) {
  if (!supports(3)) GTEST_SKIP() << lacks(3);
  for (const bool somebody_dies : {true, false}) {
    const std::vector<Death> deaths{{1, somebody_dies ? Nanos(5'000) : Nanos(1'000'000'000)}};
    const RunReport report = run_and_compare(3, deaths, [](Rank& rank) {
      Group group = rank.world().split(rank.id() < 2 ? 0 : kNobody, rank.id());
      begin_measured(rank);
      Tensor x = load(rank, {1});
      for (int step = 0; step < 3;) {
        try {
          if (!group) {
            const Survivors alive = rank.survivors();
            if (alive.group.size() == 1) break;
            group = alive.group;
          }
          pass_time(rank, 20'000);
          group.all_reduce(x, ReduceOp::max);
          ++step;
        } catch (const PeerFailed&) {
          group = {};
        }
      }
      publish_counts(rank, "size", {group.size()});
    });
    ASSERT_FALSE(report.failure) << report.failure->message;
    EXPECT_THAT(published(report, 0, "size"), ElementsAre(2));
    EXPECT_THAT(published(report, 2, "size"), ElementsAre(somebody_dies ? 2 : 0));
  }
}

TEST_P(Deaths, WithoutOneSurvivorsAreAllAndTheirGroupIsTheSame) {
  const int ranks = least(2);
  const RunReport report = run_and_compare(ranks, {}, [&](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1});
    Work work = rank.world().all_reduce_async(x, ReduceOp::sum);
    for (int i = 0; i < 3; ++i) {
      pass_time(rank, 1000 * (rank.id() + 1));
      Survivors alive = rank.survivors(i);
      EXPECT_EQ(alive.group.size(), ranks);
      EXPECT_EQ(alive.group.rank(), rank.id());
      alive.group.barrier();
    }
    work.wait();
    publish(rank, "x", x);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_THAT(published(report, 0, "x"), ElementsAre(static_cast<float>(ranks)));
}

TEST_P(Deaths, OfAllEndTheRun) {
  const int ranks = least(2);
  std::vector<Death> deaths;
  for (int r = 0; r < ranks; ++r) deaths.push_back({r, Nanos(1'000 * r)});
  const RunReport report = run_and_compare(ranks, deaths, [](Rank& rank) {
    begin_measured(rank);
    for (int step = 0; step < 1000; ++step) {
      try {
        pass_time(rank, 1000);
        rank.world().barrier();
      } catch (const PeerFailed&) {
        rank.survivors();
      }
    }
  });
  EXPECT_FALSE(report.failure);
  for (const front::RankReport& rank : report.ranks) EXPECT_TRUE(rank.counters.died.has_value());
}

// Its code is of no use any more, whatever it catches.
TEST_P(Deaths, CannotBeCaught) {
  const int ranks = least(2);
  const RunReport report = run_and_compare(ranks, {{0, Nanos(1)}}, [](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1});
    for (int i = 0; i < 5; ++i) {
      try {
        pass_time(rank, 1000);
        if (rank.id() == 0) publish(rank, "never", x);
      } catch (const std::exception&) {
        ADD_FAILURE() << "it is no error";
      } catch (...) {
      }
    }
  });
  ASSERT_FALSE(report.failure);
  EXPECT_TRUE(report.ranks[0].published.empty());
  EXPECT_EQ(report.ranks[0].counters.died, Nanos(1));
}

TEST_P(Deaths, ThatNobodyCatchesAreTheRunsFailure) {
  const int ranks = least(2);
  const RunReport report = GetParam().run(options(ranks, {{ranks - 1, Nanos(1)}}), {1, 50}, [](Rank& rank) {
    begin_measured(rank);
    pass_time(rank, 1000);
    rank.world().barrier();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::peer_failed);
  EXPECT_EQ(report.failure->rank, 0);
  EXPECT_THAT(report.failure->message, HasSubstr("peer failed: rank " + std::to_string(ranks - 1) + " died at 1 ns"));
}

// That a rank may die excuses no other mistake.
TEST_P(Deaths, HideNoDeadlock) {
  if (!supports(3)) GTEST_SKIP() << lacks(3);
  const RunReport report = GetParam().run(options(3, {{2, Nanos(1)}}), {1, 50}, [](Rank& rank) {
    begin_measured(rank);
    pass_time(rank, 1000);
    Tensor x = load(rank, {1});
    if (rank.id() < 2) rank.world().recv(x, 1 - rank.id());
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::deadlock) << report.failure->message;
}

TEST_P(Deaths, ARankThatAgreesAloneWaitsForOthersInVain) {
  const int ranks = least(2);
  const RunReport report = GetParam().run(options(ranks, {}), {1, 50}, [](Rank& rank) {
    begin_measured(rank);
    if (rank.id() == 0) rank.survivors();
    rank.world().barrier();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::deadlock) << report.failure->message;
  EXPECT_THAT(report.failure->message, HasSubstr("in survivors for rank"));
}

INSTANTIATE_TEST_SUITE_P(World, Deaths, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
