// Ranks in processes of their own really are, and one that dies takes nobody along.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "support/archive.h"
#include "support/forked_fabric.h"
#include "support/forked_world.h"
#include "support/host.h"
#include "support/worlds.h"

namespace shardlings::contract {
namespace {

using front::RunReport;

TEST(ForkedWorld, GivesEachRankAProcess) {
  const int outside = getpid();
  int touched = 0;
  const RunReport report = support::run_forked_world(support::options_for(4), [&](Rank& rank) {
    ++touched;
    support::publish(rank, "process", support::load(rank, {static_cast<float>(getpid() - outside)}));
  });
  ASSERT_FALSE(report.failure.has_value()) << report.failure->message;
  std::set<float> processes{0};
  for (int r = 0; r < 4; ++r) processes.insert(support::published(report, r, "process")[0]);
  EXPECT_EQ(processes.size(), 5U);
  EXPECT_EQ(touched, 0);
}

TEST(ForkedWorld, NamesTheRankWhoseProcessDied) {
  const RunReport report = support::run_forked_world(support::options_for(3), [](Rank& rank) {
    Tensor data = rank.zeros(10, Kind::buffer);
    rank.world().all_reduce(data, ReduceOp::sum);
    if (rank.id() == 1) raise(SIGKILL);
    rank.world().all_reduce(data, ReduceOp::sum);
  });
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->kind, front::FailureKind::exception);
  EXPECT_EQ(report.failure->rank, 1);
  EXPECT_EQ(report.failure->message, "the process of rank 1 ended in the middle of the run");
}

// A learner who swallows every exception: the next call must throw again.
TEST(ForkedWorld, StopsRanksThatGoOnAfterAFailure) {
  support::SharedArena arena;  // what a rank's process finds out is seen here
  auto& stopped = *reinterpret_cast<std::atomic<int>*>(arena.at(arena.take(sizeof(std::atomic<int>))));
  const RunReport report = support::run_forked_world(support::options_for(2), [&](Rank& rank) {
    if (rank.id() == 1) throw std::runtime_error("no");
    for (int i = 0; i < 3; ++i) {
      try {
        rank.world().barrier();
      } catch (const Aborted&) {
        ++stopped;
      }
    }
  });
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_NE(report.failure->message.find(": no"), std::string::npos) << report.failure->message;
  EXPECT_EQ(stopped, 3);
}

TEST(Archive, RefusesAMessageThatIsTooShort) {
  support::Writer writer;
  writer << std::string("four");
  std::vector<std::byte> bytes = writer.bytes();
  bytes.pop_back();
  support::Reader reader(std::move(bytes));
  EXPECT_THROW(reader.get<std::string>(), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::contract
