// Work: waiting, keeping, dropping, and what may be touched meanwhile.
#include <gtest/gtest.h>

#include "front/group/programs.h"

namespace shardlings::test {
namespace {

using front::RunReport;

RunReport two(const std::function<void(Rank&)>& body) {
  return world::run(world_of(2), body);
}

TEST(Work, WaitingTwiceAndWaitingForNothingAreFine) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(10, Kind::buffer);
    Work nothing;
    nothing.wait();
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    work.wait();
    work.wait();
  });
  EXPECT_FALSE(report.failure);
}

TEST(Work, KeepHoldsTheMemoryUntilWait) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(1000, Kind::buffer);
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum).keep(std::move(t));
    Tensor meanwhile = rank.zeros(1000, Kind::other);
    work.wait();
    Tensor later = rank.zeros(1000, Kind::other);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 8000);  // never three at once
  EXPECT_EQ(report.ranks[0].counters.live.value(), 0);
}

TEST(Work, ATensorInFlightMayMove) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(10, Kind::buffer);
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    Tensor moved = std::move(t);
    work.wait();
    rank.read(moved.part({0, 1}));
  });
  EXPECT_FALSE(report.failure);
}

TEST(Work, MarksAreRangesOfAStorage) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(10, Kind::buffer);
    Work work = rank.world().all_reduce_async(t.part({5, 10}), ReduceOp::sum);
    fill(t.part({0, 5}), 1);  // the other half is free
    work.wait();
  });
  EXPECT_FALSE(report.failure);
}

TEST(Work, AnInputMayBeReadButNotWrittenWhileInFlight) {
  const auto program = [](bool write) {
    return [write](Rank& rank) {
      Tensor t = rank.zeros(4, Kind::buffer), u = rank.zeros(4, Kind::buffer);
      Work work = rank.id() == 0 ? rank.world().send_async(t, 1) : rank.world().recv_async(u, 0);
      if (rank.id() == 0) write ? fill(t, 1) : copy(u, t);
      work.wait();
    };
  };
  EXPECT_FALSE(two(program(false)).failure);
  const auto report = two(program(true));
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
  EXPECT_EQ(report.failure->rank, 0);
  EXPECT_EQ(report.failure->file, "work_test.cpp");
}

TEST(Work, WhatWasInFlightIsInTheTraceOfAFailedRun) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(1000, Kind::buffer), u = rank.zeros(1000, Kind::buffer);
    Work first = rank.world().all_reduce_async(t, ReduceOp::sum);
    rank.world().all_reduce(u, ReduceOp::sum);  // time passes
    if (rank.id() == 1) fill(t, 1);
    first.wait();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
  std::vector<front::Event> collectives;
  for (const front::Event& event : report.ranks[1].trace.events) {
    if (event.kind == front::EventKind::collective) collectives.push_back(event);
  }
  ASSERT_EQ(collectives.size(), 2U) << "the one that was waited for, and then the one in flight";
  EXPECT_EQ(collectives[1].end, collectives[0].begin) << "all ranks had posted it, so it is known when it ran";
  EXPECT_LT(collectives[1].begin, collectives[1].end);
  EXPECT_EQ(collectives[1].bytes, collectives[0].bytes);
}

TEST(Work, WhatOthersHaveNotPostedIsInFlightUntilTheRankFails) {
  const auto report = two([](Rank& rank) {
    if (rank.id() == 0) return;
    Tensor t = rank.zeros(1000, Kind::buffer);
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    compute(rank, 3);
    fill(t, 1);
    work.wait();
  });
  ASSERT_TRUE(report.failure);
  const front::Event& event = report.ranks[1].trace.events.back();
  EXPECT_EQ(event.kind, front::EventKind::collective);
  EXPECT_EQ(event.begin, event.posted);
  EXPECT_EQ(event.end - event.begin, Nanos(3 * kMs));
}

TEST(Work, DroppingATensorInFlightIsReportedAtTheNextCall) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(4, Kind::buffer);
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    t = {};
    work.wait();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
}

TEST(Work, DroppingAWorkIsALeak) {
  for (const bool at_end : {false, true}) {
    const auto report = two([at_end](Rank& rank) {
      static_cast<void>(at_end);
      Tensor t = rank.zeros(4, Kind::buffer);
      { Work work = rank.world().all_reduce_async(t, ReduceOp::sum); }
      if (!at_end) fill(t, 0);
    });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->kind, front::FailureKind::leak);
  }
}

TEST(Work, NothingIsInFlightAfterAnExceptionUnwinds) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(4, Kind::buffer);
    Work work = rank.world().all_reduce_async(t, ReduceOp::sum);
    if (rank.id() == 1) throw std::runtime_error("learner's own error");
    work.wait();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::exception);
  EXPECT_NE(report.failure->message.find("learner's own error"), std::string::npos);
}

TEST(Work, KeepWithoutWorkFreesAtOnce) {
  const auto report = two([](Rank& rank) {
    Tensor t = rank.zeros(1000, Kind::buffer);
    Work none = Work().keep(std::move(t));
    Tensor u = rank.zeros(1000, Kind::buffer);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[1].counters.peak.value(), 4000);
}

}  // namespace
}  // namespace shardlings::test
