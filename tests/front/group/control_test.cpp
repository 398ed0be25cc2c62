// The control plane under pressure: order, reuse, failures in the middle, and reports that never change.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "front/group/programs.h"

namespace shardlings::test {
namespace {

using front::RunReport;

TEST(Control, ManyOperationsAheadStayInOrder) {
  const auto report = world::run(world_of(3), [](Rank& rank) {
    constexpr int kAhead = 300;
    std::vector<Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < kAhead; ++i) {
      tensors.push_back(rank.zeros(3, Kind::buffer));
      fill(tensors.back(), static_cast<float>(i + rank.id()));
      works.push_back(rank.world().all_reduce_async(tensors.back(), ReduceOp::sum));
    }
    for (int i = kAhead - 1; i >= 0; --i) {
      works[static_cast<std::size_t>(i)].wait();
      const float got = rank.read(tensors[static_cast<std::size_t>(i)].part({1, 2}));
      if (got != static_cast<float>(3 * i + 3)) throw std::runtime_error("wrong sum at " + std::to_string(i));
    }
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Control, MoreRanksThanCoresMakeProgress) {
  const auto report = world::run(world_of(64), [](Rank& rank) {
    for (int i = 0; i < 20; ++i) rank.world().barrier();
  });
  EXPECT_FALSE(report.failure);
}

TEST(Control, TheFirstFailureInVirtualTimeIsThePrimaryOne) {
  for (int run = 0; run < 30; ++run) {
    const auto report = world::run(world_of(4), [](Rank& rank) {
      compute(rank, 4 - rank.id());  // rank 3 fails first in virtual time
      throw std::runtime_error("rank " + std::to_string(rank.id()));
    });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->rank, 3);
  }
}

TEST(Control, ReportsAreTheSameInEveryRun) {
  std::set<std::string> messages;
  for (int run = 0; run < 50; ++run) {
    const auto report = world::run(world_of(5), [](Rank& rank) {
      Tensor t = rank.zeros(4, Kind::buffer);
      if (rank.id() % 2 == 0) rank.world().barrier();
      rank.world().send(t, (rank.id() + 1) % 5);
    });
    ASSERT_TRUE(report.failure);
    messages.insert(report.failure->message);
  }
  EXPECT_EQ(messages.size(), 1U);
}

/// Groups of four, made by splits that race with one another; then all of them make the same mistake at the same time.
void make_mistakes_at_once(Rank& rank) {
  Group four = rank.world().split(rank.id() / 4, rank.id());
  Group mine = four.split(0, rank.id());
  Tensor t = rank.zeros(rank.id() % 4 == 1 ? 5 : 4, Kind::buffer);
  mine.all_reduce(t, ReduceOp::sum);
}

std::string report_of_mistakes(const world::Options& options) {
  const auto report = world::run(options, make_mistakes_at_once);
  return report.failure ? report.failure->message : "nothing was reported";
}

TEST(Control, OfMismatchesAtOneTimeTheSameIsReportedInEveryRun) {
  std::set<std::string> messages;
  for (int run = 0; run < 200; ++run) messages.insert(report_of_mistakes(world_of(16)));
  ASSERT_EQ(messages.size(), 1U) << *messages.begin() << "\n" << *messages.rbegin();
  EXPECT_NE(messages.begin()->find("world.split1/0.split1/0"), std::string::npos) << "the group of rank 0";
}

TEST(Control, OfMismatchesAtOneTimeTheSameIsReportedUnderEverySchedule) {
  const std::string expected = report_of_mistakes(world_of(16));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    world::Options options = world_of(16);
    options.make_engine = [&] { return back::make_fibers_engine(seed); };
    ASSERT_EQ(report_of_mistakes(options), expected) << "seed " << seed;
  }
}

TEST(Control, SwallowedErrorsDoNotHang) {
  const auto report = world::run(world_of(3), [](Rank& rank) {
    Tensor t = rank.zeros(rank.id() == 1 ? 5 : 4, Kind::buffer);
    for (int i = 0; i < 10; ++i) {
      try {
        rank.world().all_reduce(t, ReduceOp::sum);
      } catch (...) {
      }
    }
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::mismatch);
}

TEST(Control, SplitOrdersByKeyAndLeavesNobodyOut) {
  const auto report = world::run(world_of(6), [](Rank& rank) {
    Group group = rank.world().split(rank.id() == 5 ? kNobody : rank.id() % 2, -rank.id(), "half");
    if (rank.id() == 5) {
      if (group) throw std::runtime_error("nobody has a group");
      return;
    }
    const int expected = rank.id() % 2 == 0 ? (4 - rank.id()) / 2 : (3 - rank.id()) / 2;
    if (group.rank() != expected) throw std::runtime_error("wrong rank " + std::to_string(group.rank()));
    Tensor t = rank.zeros(1, Kind::buffer);
    fill(t, static_cast<float>(rank.id()));
    group.all_reduce(t, ReduceOp::sum);
    if (rank.read(t) != (rank.id() % 2 == 0 ? 6.0F : 4.0F)) throw std::runtime_error("wrong members");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(Control, ASplitMakesAllRanksMeet) {
  const auto report = world::run(world_of(3), [](Rank& rank) {
    compute(rank, rank.id());
    rank.world().split(rank.id() == 0 ? kNobody : 0, 0);
  });
  for (const auto& rank : report.ranks) EXPECT_EQ(rank.counters.end.value(), 2 * kMs);
}

TEST(Control, CountersAreTheSameUnderAnySchedule) {
  const auto program = [](Rank& rank) {
    Tensor t = rank.zeros(1001, Kind::buffer), u = rank.zeros(7, Kind::buffer);
    const int n = rank.size();
    for (int i = 0; i < 10; ++i) {
      Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
      compute(rank, rank.id() % 3);
      rank.world().send_recv(u.part({0, 3}), (rank.id() + 1) % n, u.part({3, 6}), (rank.id() + n - 1) % n);
      work.wait();
    }
  };
  const RunReport first = world::run(world_of(8, Nanos(1000), 1e8), program);
  for (int run = 0; run < 20; ++run) {
    const RunReport again = world::run(world_of(8, Nanos(1000), 1e8), program);
    for (std::size_t r = 0; r < 8; ++r) EXPECT_EQ(first.ranks[r].counters, again.ranks[r].counters) << "rank " << r;
  }
}

}  // namespace
}  // namespace shardlings::test
