// Ranks in processes of their own really are, and one that dies takes nobody along.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <set>
#include <stdexcept>

#include "front/remote/archive.h"
#include "support/forked_world.h"
#include "support/host.h"
#include "support/worlds.h"

namespace shardlings::contract {
namespace {

using front::RunReport;

TEST(ForkedWorld, GivesEachRankAProcess) {
  const int outside = getpid();
  int touched = 0;
  const RunReport report = support::run_forked_world(support::options_for(4), 4, [&](Rank& rank) {
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
  const RunReport report = support::run_forked_world(support::options_for(3), 3, [](Rank& rank) {
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
  // What a rank's process finds out is seen here.
  void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& stopped = *new (shared) std::atomic<int>(0);
  const RunReport report = support::run_forked_world(support::options_for(2), 2, [&](Rank& rank) {
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
  munmap(shared, sizeof(std::atomic<int>));
}

TEST(Archive, RefusesAMessageThatIsTooShort) {
  front::remote::Writer writer;
  writer << std::string("four");
  const std::string bytes = writer.bytes().substr(0, writer.bytes().size() - 1);
  front::remote::Reader reader(bytes);
  EXPECT_THROW(reader.get<std::string>(), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::contract
