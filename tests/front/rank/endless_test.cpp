// Loops that call operations for ever: what they leave behind is bounded, and the line is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "api/harness_calls.h"
#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings {
namespace {

using front::FailureKind;
using front::RunReport;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kMost = 2000;

constexpr Location line(int number) {
  return {"folder/puzzle.cpp", number};
}

RunReport run(const std::function<void(Rank&)>& body, std::int64_t most = kMost, int ranks = 2) {
  world::Options options;
  options.ranks = ranks;
  options.endless = most;
  return world::run(options, body);
}

void expect_endless(const RunReport& report, int rank, int at, const std::string& message) {
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, FailureKind::endless_loop) << report.failure->message;
  EXPECT_EQ(report.failure->rank, rank);
  EXPECT_EQ(report.failure->file, "puzzle.cpp");
  EXPECT_EQ(report.failure->line, at);
  EXPECT_THAT(report.failure->message, StartsWith(message));
  for (const front::RankReport& of_rank : report.ranks) {
    EXPECT_LE(of_rank.trace.events.size(), static_cast<std::size_t>(kMost) + 2) << "what the last call leaves";
  }
}

TEST(EndlessLoop, OfOneLineIsNamed) {
  const RunReport report = run([](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, line(10));
    while (rank.id() == 1) fill(x, 1, line(31));
    rank.world().barrier(line(40));
  });
  expect_endless(report, 1, 31,
                 "endless loop: rank 1 repeats puzzle.cpp:31 for ever.\n"
                 "  of its last 256 calls: 256 fill at puzzle.cpp:31\n"
                 "It was stopped after 2000 calls, ");
}

// Each turn is three calls; what came before the loop is forgotten.
TEST(EndlessLoop, OfSeveralLinesIsNamedAsAWhole) {
  const RunReport report = run([](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, line(10));
    for (int i = 0; i < 500; ++i) scale(x, 1, line(12));
    for (;;) {
      fill(x, 1, line(31));
      scale(x, 2, line(32));
      rank.world().all_reduce(x, ReduceOp::sum, line(35));
    }
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, FailureKind::endless_loop);
  EXPECT_EQ(report.failure->rank, 0) << "both loop; the first is named";
  EXPECT_THAT(report.failure->message, StartsWith("endless loop: rank 0 repeats puzzle.cpp:31 to 35 for ever.\n"));
  EXPECT_THAT(report.failure->message, HasSubstr("all_reduce at puzzle.cpp:35"));
}

TEST(EndlessLoop, ThatAllocatesIsStoppedByWhatItRecords) {
  const RunReport report = run([](Rank& rank) {
    for (;;) rank.zeros(4, Kind::other, DType::f32, line(31));
  });
  expect_endless(report, 0, 31, "endless loop: rank 0 repeats puzzle.cpp:31 for ever.\n");
  EXPECT_LE(report.ranks[0].trace.memory.size(), static_cast<std::size_t>(kMost) + 2);
}

TEST(EndlessLoop, ThatRecordsNothingIsStoppedByItsCalls) {
  const RunReport report = run([](Rank& rank) {
    for (;;) rank.world().send({}, kNobody, line(31));
  });
  expect_endless(report, 0, 31, "endless loop: rank 0 repeats puzzle.cpp:31 for ever.\n");
}

TEST(EndlessLoop, OfCallsWithoutAPlaceIsStoppedWhereItIsMeasured) {
  const RunReport report = run([](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, Location{});
    for (int i = 0; i < 2 * kMost; ++i) fill(x, 1, Location{});  // as a harness does, whose calls have no place
    detail::harness::begin_measuring(rank);
    fill(x, 1, line(30));
    for (;;) fill(x, 1, Location{});
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, FailureKind::endless_loop);
  EXPECT_EQ(report.failure->line, 0);
  EXPECT_THAT(report.failure->message,
              StartsWith("endless loop: rank 0 makes calls for ever, and gives them no place in the source.\n"
                         "It was stopped after "));
}

TEST(EndlessLoop, CannotBeCaught) {
  const RunReport report = run([](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, line(10));
    for (int i = 0; i < 2 * kMost; ++i) {
      try {
        fill(x, 1, line(31));
      } catch (...) {
      }
    }
  });
  expect_endless(report, 0, 31, "endless loop: rank 0 repeats puzzle.cpp:31 for ever.\n");
}

TEST(EndlessLoop, IsTheSameInEveryRun) {
  const auto body = [](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, line(10));
    for (;;) {
      if (rank.id() == 1) fill(x, 1, line(31));
      rank.world().send_recv(x, (rank.id() + 1) % rank.size(), rank.zeros(4, Kind::other, DType::f32, line(32)),
                             (rank.id() + 2) % rank.size(), line(33));
    }
  };
  const RunReport first = run(body, kMost, 3);
  ASSERT_TRUE(first.failure);
  EXPECT_EQ(first.failure->kind, FailureKind::endless_loop);
  for (int i = 0; i < 10; ++i) {
    const RunReport again = run(body, kMost, 3);
    ASSERT_TRUE(again.failure);
    EXPECT_EQ(again.failure->message, first.failure->message);
  }
}

TEST(EndlessLoop, IsNoLoopThatEnds) {
  const auto body = [](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other, DType::f32, line(10));
    for (int i = 0; i < kMost - 10; ++i) fill(x, 1, line(31));
  };
  EXPECT_FALSE(run(body).failure);
  EXPECT_TRUE(run(body, kMost / 2).failure);
  EXPECT_FALSE(run(body, 0).failure) << "0: no limit";
}

}  // namespace
}  // namespace shardlings
