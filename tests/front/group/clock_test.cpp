// The rules of the virtual clock for communication, one by one (docs/reference/clock.md).
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/parts.h"
#include "front/group/programs.h"

namespace shardlings::test {
namespace {

using front::Counters;
using front::RunReport;

const Counters& counters(const RunReport& report, int rank) {
  return report.ranks[static_cast<std::size_t>(rank)].counters;
}

#define ASSERT_RUN_OK(report) ASSERT_FALSE((report).failure) << (report).failure->message

TEST(Clock, ACollectiveStartsWhenTheLastMemberHasPosted) {
  // 4 ranks, 4 MB: 2 * 3 steps of 1 MB at 1 GB/s and 10 us each.
  const auto report = world::run(world_of(4, Nanos(10'000)), [](Rank& rank) {
    Tensor t = rank.empty(1'000'000, Kind::buffer);
    compute(rank, rank.id());
    rank.world().all_reduce(t, ReduceOp::sum);
  });
  ASSERT_RUN_OK(report);
  const std::int64_t cost = 6 * (10'000 + kMs);
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(counters(report, r).end.value(), 3 * kMs + cost);
    EXPECT_EQ(counters(report, r).waited_for_peers.value(), (3 - r) * kMs);
    EXPECT_EQ(counters(report, r).exposed_transfer.value(), cost);
    EXPECT_EQ(counters(report, r).overlapped_transfer.value(), 0);
  }
}

TEST(Clock, AsyncTransferOverlapsWithComputation) {
  const auto report = world::run(world_of(2), [](Rank& rank) {
    Tensor t = rank.empty(1'000'000, Kind::buffer);  // 2 steps of 2 MB: 4 ms
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    compute(rank, 3);
    work.wait();
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 0).end.value(), 4 * kMs);
  EXPECT_EQ(counters(report, 0).exposed_transfer.value(), 1 * kMs);
  EXPECT_EQ(counters(report, 0).overlapped_transfer.value(), 3 * kMs);
  EXPECT_EQ(counters(report, 0).waited_for_peers.value(), 0);
}

TEST(Clock, CollectivesOfOneLaneRunOneAfterAnotherWhateverTheirGroup) {
  const auto report = world::run(world_of(2), [](Rank& rank) {
    Group other = rank.world().split(0, rank.id());
    Tensor a = rank.empty(500'000, Kind::buffer), b = rank.empty(500'000, Kind::buffer);  // 2 ms each
    Work first = rank.world().all_reduce_async(a, ReduceOp::sum);
    Work second = other.all_reduce_async(b, ReduceOp::sum);
    first.wait();
    second.wait();
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 0).end.value(), 4 * kMs);
}

// Two transfers of 2 ms on one lane, and 1 ms of computing: that much was hidden, in whichever order they are waited
// for.
TEST(Clock, WhatGoesOnWhileTheProgramWaitsForSomethingElseIsNotOverlapped) {
  for (const bool backwards : {false, true}) {
    const auto report = world::run(world_of(2), [&](Rank& rank) {
      Tensor a = rank.empty(500'000, Kind::buffer), b = rank.empty(500'000, Kind::buffer);
      Work first = rank.world().all_reduce_async(a, ReduceOp::sum);
      Work second = rank.world().all_reduce_async(b, ReduceOp::sum);
      compute(rank, 1);
      for (Work* work : backwards ? std::array{&second, &first} : std::array{&first, &second}) work->wait();
    });
    ASSERT_RUN_OK(report);
    EXPECT_EQ(counters(report, 0).end.value(), 4 * kMs);
    EXPECT_EQ(counters(report, 0).overlapped_transfer.value(), 1 * kMs);
    EXPECT_EQ(counters(report, 0).busy[static_cast<std::size_t>(front::Lane::intra_node)].value(), 4 * kMs);
  }
}

// Of the two messages of a call one is waited for first; nothing is computed meanwhile.
TEST(Clock, WhatOneCallSendsAndReceivesIsNotOverlapped) {
  const auto report = world::run(world_of(2), [](Rank& rank) {
    Tensor out = rank.empty(500'000, Kind::buffer), in = rank.empty(500'000, Kind::buffer);
    const int other = 1 - rank.id();
    rank.world().send_recv(out, other, in, other);
  });
  ASSERT_RUN_OK(report);
  EXPECT_GT(counters(report, 0).exposed_transfer.value(), 0);
  EXPECT_EQ(counters(report, 0).overlapped_transfer.value(), 0);
}

TEST(Clock, OppositeOrderOfTwoGroupsIsADeadlockAsOnOneStream) {
  const auto report = world::run(world_of(2), [](Rank& rank) {
    Group other = rank.world().split(0, rank.id(), "other");
    Tensor a = rank.zeros(8, Kind::buffer), b = rank.zeros(8, Kind::buffer);
    Group& world = rank.world();
    Work first = rank.id() == 0 ? world.all_reduce_async(a, ReduceOp::sum) : other.all_reduce_async(b, ReduceOp::sum);
    Work second = rank.id() == 0 ? other.all_reduce_async(b, ReduceOp::sum) : world.all_reduce_async(a, ReduceOp::sum);
    first.wait();
    second.wait();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::deadlock);
  EXPECT_NE(report.failure->message.find("queued behind"), std::string::npos) << report.failure->message;
}

TEST(Clock, AMessageTakesLatencyPlusOccupancyFromTheLaterOfTheTwoPosts) {
  const auto report = world::run(world_of(2, Nanos(500'000)), [](Rank& rank) {
    Tensor t = rank.zeros(250'000, Kind::buffer);  // zeros: 1 MB, no cost of its own
    if (rank.id() == 0) {
      rank.world().send(t, 1);
    } else {
      compute(rank, 2);
      rank.world().recv(t, 0);
    }
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 0).end.value(), 2 * kMs + 500'000 + kMs);
  EXPECT_EQ(counters(report, 1).end.value(), 2 * kMs + 500'000 + kMs);
  EXPECT_EQ(counters(report, 0).waited_for_peers.value(), 2 * kMs);
}

TEST(Clock, SendsTakeTheSendersLinkInTheOrderOfTheirPosts) {
  const auto report = world::run(world_of(3), [](Rank& rank) {
    Tensor t = rank.zeros(250'000, Kind::buffer), u = rank.zeros(250'000, Kind::buffer);
    if (rank.id() == 0) {
      Work a = rank.world().send_async(t, 1);
      Work b = rank.world().send_async(u, 2);
      a.wait();
      b.wait();
    } else {
      rank.world().recv(t, 0);
    }
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 1).end.value(), 1 * kMs);
  EXPECT_EQ(counters(report, 2).end.value(), 2 * kMs);
}

TEST(Clock, MessagesThatArriveTogetherTakeTheReceiversLinkOneAfterAnother) {
  const auto report = world::run(world_of(3), [](Rank& rank) {
    Tensor t = rank.zeros(250'000, Kind::buffer), u = rank.zeros(250'000, Kind::buffer);
    if (rank.id() == 0) {
      Work a = rank.world().recv_async(t, 1);
      Work b = rank.world().recv_async(u, 2);
      a.wait();
      b.wait();
    } else {
      rank.world().send(t, 0);
    }
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 0).end.value(), 2 * kMs);
}

TEST(Clock, LinksInsideAndBetweenNodesAreDifferentLanes) {
  auto options = world_of(4, Nanos(0), 1e9, 2);
  options.cluster.links[1].bytes_per_second = 1e8;
  const auto report = world::run(options, [](Rank& rank) {
    Group node = rank.world().split(rank.id() / 2, rank.id(), "node");
    Group across = rank.world().split(rank.id() % 2, rank.id(), "across");
    Tensor a = rank.empty(500'000, Kind::buffer), b = rank.empty(50'000, Kind::buffer);
    Work inside = node.all_reduce_async(a, ReduceOp::sum);     // 2 ms at 1 GB/s
    Work between = across.all_reduce_async(b, ReduceOp::sum);  // 2 ms at 0.1 GB/s
    inside.wait();
    between.wait();
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 0).end.value(), 2 * kMs);
  using front::Collective;
  using front::Link;
  const auto& traffic = counters(report, 0).traffic;
  EXPECT_EQ(traffic.at({Collective::all_reduce, "node", Link::intra_node}).sent.value(), 2'000'000);
  EXPECT_EQ(traffic.at({Collective::all_reduce, "across", Link::inter_node}).sent.value(), 200'000);
}

TEST(Clock, InMixedPrecisionTensorsWeighAndTravelInSixteenBits) {
  auto options = world_of(2);
  options.cluster.mixed = true;
  const auto report = world::run(options, [](Rank& rank) {
    Tensor gradient = rank.empty(1000, Kind::gradient), moments = rank.empty(100, Kind::optimizer);
    rank.world().all_reduce(gradient, ReduceOp::sum);
  });
  ASSERT_RUN_OK(report);
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(counters(report, r).peak, Bytes(2 * 1000 + 6 * 100));
    EXPECT_EQ(counters(report, r).bytes_sent(), Bytes(2 * 1000));
    EXPECT_EQ(counters(report, r).end, Nanos(2 * 1000)) << "2 steps of 500 elements at 1 GB/s";
    EXPECT_EQ(counters(report, r).live, Bytes(0));
  }
}

// The learner's ring of puzzle 06, as a closed form: 2(N-1)(alpha + S/(N W)) where N divides the size.
TEST(Clock, ARingOfMessagesTakesTheClosedForm) {
  for (int n = 2; n <= 9; ++n) {
    const Count count = 1000 * n;
    const auto report = world::run(world_of(n, Nanos(7'000), 1e8), [&](Rank& rank) {
      Tensor data = rank.zeros(count, Kind::buffer), in = rank.zeros(1000, Kind::buffer);
      const int next = (rank.id() + 1) % n, previous = (rank.id() + n - 1) % n;
      for (int step = 0; step < 2 * (n - 1); ++step) {
        const int chunk = ((rank.id() - step) % n + n) % n;
        rank.world().send_recv(data.part(part_of(count, n, chunk)), next, in, previous);
      }
    });
    ASSERT_RUN_OK(report);
    for (int r = 0; r < n; ++r) EXPECT_EQ(counters(report, r).end.value(), 2 * (n - 1) * (7'000 + 40'000)) << "n " << n;
  }
}

// GPipe with latency 0: (m + p - 1)(F + B), from blocking receives and one send in flight per direction.
TEST(Clock, APipelineTakesTheClosedForm) {
  for (const auto& [p, m] : std::vector<std::array<int, 2>>{{2, 4}, {4, 8}, {3, 2}, {1, 5}}) {
    const auto report = world::run(world_of(p, Nanos(0), 1e18), [p = p, m = m](Rank& rank) {
      Group down = rank.world().split(0, rank.id(), "down"), up = rank.world().split(0, rank.id(), "up");
      const int before = rank.id() > 0 ? rank.id() - 1 : kNobody, after = rank.id() + 1 < p ? rank.id() + 1 : kNobody;
      Tensor in = rank.zeros(4, Kind::activation);
      const auto pass = [&](Group& way, int from, int to, int ms) {
        Work sent;
        for (int i = 0; i < m; ++i) {
          way.recv(in, from);
          compute(rank, ms);
          Tensor out = rank.zeros(4, Kind::activation);
          sent.wait();
          sent = way.send_async(out, to).keep(std::move(out));
        }
        sent.wait();
      };
      pass(down, before, after, 1);
      pass(up, after, before, 2);
    });
    ASSERT_RUN_OK(report);
    EXPECT_EQ(counters(report, 0).end.value(), (m + p - 1) * 3 * kMs) << "p " << p << " m " << m;
  }
}

TEST(Clock, MeasuringBeginsAnew) {
  const auto report = world::run(world_of(2), [](Rank& rank) {
    Tensor t = rank.empty(500'000, Kind::buffer);
    rank.world().all_reduce(t, ReduceOp::sum);
    compute(rank, 5);
  });
  ASSERT_RUN_OK(report);
  EXPECT_EQ(counters(report, 1).end.value(), 2 * kMs + 5 * kMs);
}

}  // namespace
}  // namespace shardlings::test
