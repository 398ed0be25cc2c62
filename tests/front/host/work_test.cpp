// Work of the host: what may be used when, what must be waited for, and what `after` allows.
#include <gtest/gtest.h>

#include "front/host/on_host.h"

namespace shardlings::test {
namespace {

using front::RunReport;

RunReport alone(const std::function<void(Rank&)>& body) {
  return world::run(world_with_host(), body);
}

void expect_misuse(const RunReport& report, front::FailureKind kind, const char* part) {
  ASSERT_TRUE(report.failure) << "expected: " << name_of(kind);
  EXPECT_EQ(report.failure->kind, kind);
  EXPECT_NE(report.failure->message.find(part), std::string::npos) << report.failure->message;
}

TEST(HostWork, UsingWhatIsOnItsWayIsARace) {
  const auto program = [](auto use) {
    return alone([use](Rank& rank) {
      Tensor device = rank.zeros(8, Kind::gradient), host = rank.host_zeros(8, Kind::gradient);
      OnHost state(rank, 8);
      Work work = copy_async(host.part({0, 4}), device.part({0, 4}));
      use(device, host, state);
      work.wait();
    });
  };
  expect_misuse(program([](Tensor& device, Tensor&, OnHost&) { scale(device, 2); }), front::FailureKind::race,
                "scale writes");
  expect_misuse(program([](Tensor&, Tensor& host, OnHost& s) { adam(s.w, host, s.m, s.v, {}); }),
                front::FailureKind::race, "adam reads");
  expect_misuse(program([](Tensor& device, Tensor& host, OnHost&) { copy(device, host); }), front::FailureKind::race,
                "copy writes");
  // Reading what is only read, and all other elements, is fine.
  EXPECT_FALSE(program([](Tensor& device, Tensor&, OnHost&) { const Tensor same = clone(device); }).failure);
  EXPECT_FALSE(program([](Tensor& device, Tensor&, OnHost&) { fill(device.part({4, 8}), 1); }).failure);
  EXPECT_FALSE(program([](Tensor& d, Tensor& h, OnHost&) { copy(h.part({4, 8}), d.part({4, 8})); }).failure);
}

TEST(HostWork, AfterAllowsWhatTheEarlierWorkLeaves) {
  const RunReport report = alone([](Rank& rank) {
    OnHost state(rank, 8);
    Tensor grad = rank.zeros(8, Kind::gradient);
    const Work drained = copy_async(state.grad, grad);
    const Work updated = adam_async(state.w, state.grad, state.m, state.v, {}, drained);
    // Of the whole chain: the gradient's room may be written again after the update that read it.
    Work again = copy_async(state.grad, grad, updated);
    again.wait();
    scale(grad, 2);
    copy(grad, state.w);
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HostWork, WithoutAfterTheOrderOfALaneIsNoPromise) {
  expect_misuse(alone([](Rank& rank) {
                  OnHost state(rank, 8);
                  Work one = adam_async(state.w, state.grad, state.m, state.v, {});
                  Work two = adam_async(state.w, state.grad, state.m, state.v, {});
                  one.wait();
                  two.wait();
                }),
                front::FailureKind::race, "adam");
}

TEST(HostWork, WhatALaterOneComesAfterNeedNoWait) {
  const RunReport report = alone([](Rank& rank) {
    OnHost state(rank, 1000);
    Tensor weights = rank.zeros(1000, Kind::parameter);
    Work filled;
    {
      Tensor grad = rank.zeros(1000, Kind::gradient);
      const Work drained = copy_async(state.grad, grad).keep(std::move(grad));
      filled = copy_async(weights, state.w, adam_async(state.w, state.grad, state.m, state.v, {}, drained));
    }
    filled.wait();
    Tensor later = rank.zeros(1000, Kind::other);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.peak.value(), 8000) << "the gradient is free once the last one is waited for";
  EXPECT_EQ(report.ranks[0].counters.live.value() + report.ranks[0].counters.host.live.value(), 0);
}

TEST(HostWork, TheLastOneOfAChainMustBeWaitedFor) {
  const auto chain = [](Rank& rank, Work& last) {
    OnHost state(rank, 8);
    Tensor grad = rank.zeros(8, Kind::gradient);
    const Work drained = copy_async(state.grad, grad);
    last = adam_async(state.w, state.grad, state.m, state.v, {}, drained);
    for (Tensor* tensor : {&state.w, &state.grad, &state.m, &state.v, &grad})
      last = std::move(last).keep(std::move(*tensor));
  };
  expect_misuse(alone([&](Rank& rank) {
                  Work last;
                  chain(rank, last);
                }),
                front::FailureKind::leak, "dropped the Work of adam (8 f32 on the host)");
}

TEST(HostWork, DroppingATensorOnItsWayIsARace) {
  expect_misuse(alone([](Rank& rank) {
                  Tensor device = rank.zeros(8, Kind::gradient), host = rank.host_zeros(8, Kind::gradient);
                  Work work = copy_async(host, device);
                  device = {};
                  work.wait();
                }),
                front::FailureKind::race, "while copy of");
}

TEST(HostWork, ComingAfterNothingOrAfterWhatIsOverIsFine) {
  const RunReport report = alone([](Rank& rank) {
    Tensor device = rank.zeros(8, Kind::gradient), host = rank.host_zeros(8, Kind::gradient);
    Work one = copy_async(host, device, Work());
    one.wait();
    Work two = copy_async(host, device, one);
    two.wait();
    one.wait();
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HostWork, SeveralMayComeAfterOne) {
  const RunReport report = alone([](Rank& rank) {
    Tensor device = rank.zeros(8, Kind::gradient), a = rank.zeros(8, Kind::other), b = rank.zeros(8, Kind::other);
    Tensor host = rank.host_zeros(8, Kind::gradient);
    Work drained = copy_async(host, device);
    Work one = copy_async(a, host, drained);
    Work two = copy_async(b, host, drained);
    one.wait();
    two.wait();
    drained.wait();
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

// Ranks wait for a collective through the copy that comes after it; a rank that never joins is named as anywhere else.
TEST(HostWork, ACollectiveThatNobodyJoinsIsFoundBehindACopy) {
  const RunReport report = world::run(world_with_host(2), [](Rank& rank) {
    Tensor grad = rank.zeros(8, Kind::gradient), shard = rank.zeros(4, Kind::gradient);
    Tensor host = rank.host_zeros(4, Kind::gradient);
    if (rank.id() == 1) return;
    const Work reduced = rank.world().reduce_scatter_async(grad, shard, ReduceOp::sum);
    Work drained = copy_async(host, shard, reduced);
    drained.wait();
  });
  expect_misuse(report, front::FailureKind::desertion, "reduce_scatter of 8 f32");
}

// The copy waits for the reduction, the program does not: rank 0 goes on to what rank 1 needs before it can join.
TEST(HostWork, StartingAfterACollectiveNeverBlocks) {
  const RunReport report = world::run(world_with_host(2), [](Rank& rank) {
    Tensor grad = rank.zeros(8, Kind::gradient), shard = rank.zeros(4, Kind::gradient);
    Tensor host = rank.host_zeros(4, Kind::gradient), message = rank.zeros(1, Kind::other);
    if (rank.id() == 1) rank.world().recv(message, 0);
    const Work reduced = rank.world().reduce_scatter_async(grad, shard, ReduceOp::sum);
    Work drained = copy_async(host, shard, reduced);
    if (rank.id() == 0) rank.world().send(message, 1);
    drained.wait();
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

TEST(HostWork, DataKeepTheirMicroBatch) {
  const RunReport report = alone([](Rank& rank) {
    Tensor x = rank.zeros(8, Kind::activation), host = rank.host_zeros(8, Kind::activation);
    copy(host, x);
    copy(x, host);
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

}  // namespace
}  // namespace shardlings::test
