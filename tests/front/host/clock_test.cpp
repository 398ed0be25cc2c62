// The rules of the clock for copies between the memories and for the host's work (docs/reference/clock.md), as closed
// forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "front/host/on_host.h"

namespace shardlings::test {
namespace {

using front::Counters;
using front::EventKind;
using front::HostLink;
using front::Lane;
using front::RunReport;

const front::Copies& copies(const Counters& counters, HostLink link) {
  return counters.copies[static_cast<std::size_t>(link)];
}

TEST(HostClock, ABlockingCopyTakesLatencyPlusBytesByBandwidth) {
  auto options = world_with_host(1, Nanos(500));
  options.cluster.host_links[1].bytes_per_second = 5e8;
  const Counters counters = counters_of(world::run(options, [](Rank& rank) {
    Tensor device = rank.zeros(1000, Kind::other);
    Tensor host = rank.host_zeros(1000, Kind::other);
    copy(host, device);
    copy(device.part({0, 500}), host.part({0, 500}));
  }));
  EXPECT_EQ(counters.end.value(), (500 + 4000) + (500 + 4000));
  EXPECT_EQ(counters.waited_for_host, counters.end);
  EXPECT_EQ(counters.waited_for_peers.value() + counters.exposed_transfer.value(), 0);
  EXPECT_EQ(copies(counters, HostLink::to_host), (front::Copies{1, Bytes(4000)}));
  EXPECT_EQ(copies(counters, HostLink::to_device), (front::Copies{1, Bytes(2000)}));
  EXPECT_EQ(busy(counters, Lane::to_host), 4500);
  EXPECT_EQ(busy(counters, Lane::to_device), 4500);
}

TEST(HostClock, CopiesOfBf16AreHalfAsLong) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor device = rank.zeros(1000, Kind::other, DType::bf16);
    Tensor host = rank.host_zeros(1000, Kind::other, DType::bf16);
    copy(host, device);
  }));
  EXPECT_EQ(counters.end.value(), 2000);
}

TEST(HostClock, AdamTakesAsLongAsTheHostNeedsForItsMemory) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    OnHost state(rank, 1000);
    adam(state.w, state.grad, state.m, state.v, {});
  }));
  EXPECT_EQ(counters.end.value(), 28 * 1000 / 7);
  EXPECT_EQ(busy(counters, Lane::host), 4000);
  EXPECT_EQ(busy(counters, Lane::compute), 0);
  EXPECT_EQ(counters.flops.value(), 14 * 1000);
}

TEST(HostClock, WhatIsStartedRunsBesideTheProgram) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor device = rank.zeros(3 * kMillisecond, Kind::other);
    Tensor host = rank.host_zeros(3 * kMillisecond, Kind::other);
    Work work = copy_async(host, device);
    compute(rank, 2);
    work.wait();
  }));
  EXPECT_EQ(counters.end.value(), 3 * kMs);
  EXPECT_EQ(counters.waited_for_host.value(), 1 * kMs);
}

TEST(HostClock, TheThreeLanesShareNothing) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor a = rank.zeros(kMillisecond, Kind::other), b = rank.zeros(kMillisecond, Kind::other);
    Tensor c = rank.host_zeros(kMillisecond, Kind::other), d = rank.host_zeros(kMillisecond, Kind::other);
    OnHost state(rank, kMillisecond);
    Work one = copy_async(c, a);
    Work two = copy_async(b, d);
    Work three = adam_async(state.w, state.grad, state.m, state.v, {});
    for (Work* work : {&one, &two, &three}) work->wait();
  }));
  EXPECT_EQ(counters.end.value(), kMs);
  EXPECT_EQ(counters.waited_for_host.value(), kMs);
}

TEST(HostClock, CopiesInOneDirectionGoOneAfterAnother) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor a = rank.zeros(kMillisecond, Kind::other), b = rank.zeros(kMillisecond, Kind::other);
    Tensor c = rank.host_zeros(kMillisecond, Kind::other), d = rank.host_zeros(kMillisecond, Kind::other);
    Work one = copy_async(c, a);
    Work two = copy_async(d, b);
    two.wait();
    one.wait();
  }));
  EXPECT_EQ(counters.end.value(), 2 * kMs);
  EXPECT_EQ(counters.waited_for_host.value(), 2 * kMs);
  EXPECT_EQ(busy(counters, Lane::to_host), 2 * kMs);
}

TEST(HostClock, ACopyInsideTheHostIsTheProcessorsWork) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor a = rank.host_zeros(7000, Kind::other), b = rank.host_zeros(7000, Kind::other);
    copy(a, b);
  }));
  EXPECT_EQ(counters.end.value(), 2 * 4 * 7000 / 7);
  EXPECT_EQ(busy(counters, Lane::host), counters.end.value());
  EXPECT_EQ(copies(counters, HostLink::to_host).calls + copies(counters, HostLink::to_device).calls, 0);
}

// A chain over three lanes for every layer, each started when the backward of the layer is done, the next backward
// beside it: nobody waits until the end.
std::int64_t end_of_offload(int layers, int backward_ms, int copy_ms, int adam_ms) {
  auto options = world_with_host();
  options.cluster.host_links.fill(front::LinkSpeed{Nanos(0), 1e9 / copy_ms});
  options.cluster.host.bytes_per_second = 7e9 / adam_ms;
  const Counters counters = counters_of(world::run(options, [&](Rank& rank) {
    std::vector<Tensor> weights;
    std::vector<OnHost> states;
    std::vector<Work> filled;
    for (int l = 0; l < layers; ++l) {
      weights.push_back(rank.zeros(kMillisecond, Kind::parameter));
      states.emplace_back(rank, kMillisecond);
    }
    for (int l = 0; l < layers; ++l) {
      OnHost& state = states[static_cast<std::size_t>(l)];
      compute(rank, backward_ms);
      Tensor grad = rank.zeros(kMillisecond, Kind::gradient);
      const Work drained = copy_async(state.grad, grad).keep(std::move(grad));
      const Work updated = adam_async(state.w, state.grad, state.m, state.v, {}, drained);
      filled.push_back(copy_async(weights[static_cast<std::size_t>(l)], state.w, updated));
    }
    for (Work& work : filled) work.wait();
  }));
  return counters.end.value();
}

TEST(HostClock, AnOffloadedStepTakesItsSlowestLanePlusTheFirstAndTheLastUnit) {
  struct Times {
    int backward, copy, adam;
  };
  for (const int layers : {1, 2, 5}) {
    for (const Times& t : {Times{1, 1, 1}, {3, 1, 1}, {1, 2, 1}, {1, 1, 4}, {2, 3, 3}}) {
      const std::int64_t slowest = std::max({t.backward, t.copy, t.adam});
      // The first unit passes all four stages; each further one comes out after the slowest stage's time.
      const std::int64_t expected = t.backward + 2 * t.copy + t.adam + (layers - 1) * slowest;
      EXPECT_EQ(end_of_offload(layers, t.backward, t.copy, t.adam), expected * kMs)
          << layers << " layers, backward " << t.backward << ", copy " << t.copy << ", Adam " << t.adam;
    }
  }
}

TEST(HostClock, WaitingForTheLastOfAChainIsWaitingForEach) {
  const RunReport report = world::run(world_with_host(), [](Rank& rank) {
    OnHost state(rank, kMillisecond);
    Tensor weights = rank.zeros(kMillisecond, Kind::parameter), grad = rank.zeros(kMillisecond, Kind::gradient);
    const Work drained = copy_async(state.grad, grad);
    const Work updated = adam_async(state.w, state.grad, state.m, state.v, {}, drained);
    Work filled = copy_async(weights, state.w, updated);
    filled.wait();
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  std::vector<std::pair<Lane, std::int64_t>> done;
  std::vector<std::int64_t> waits;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.kind == EventKind::copy || event.kind == EventKind::update) {
      done.emplace_back(event.lane, event.end.value());
      EXPECT_EQ(event.posted.value(), 0);
    }
    if (event.kind == EventKind::wait) waits.push_back((event.end - event.begin).value());
  }
  const std::vector<std::pair<Lane, std::int64_t>> expected = {
      {Lane::to_host, kMs}, {Lane::host, 2 * kMs}, {Lane::to_device, 3 * kMs}};
  EXPECT_EQ(done, expected);
  EXPECT_EQ(waits, std::vector<std::int64_t>(3, kMs));
}

// A shard of the gradient goes to the host as soon as it is reduced; the program waits for neither.
TEST(HostClock, ACopyMayComeAfterACollective) {
  const RunReport report = world::run(world_with_host(2), [](Rank& rank) {
    Tensor grad = rank.zeros(500'000, Kind::gradient);
    Tensor shard = rank.zeros(kMillisecond, Kind::gradient);
    Tensor host = rank.host_zeros(kMillisecond, Kind::gradient);
    compute(rank, rank.id());  // rank 1 is late by a millisecond
    const Work reduced = rank.world().reduce_scatter_async(grad, shard, ReduceOp::sum);
    Work drained = copy_async(host, shard, reduced);
    compute(rank, 1);
    drained.wait();
  });
  for (int r = 0; r < 2; ++r) {
    const Counters counters = counters_of(report, r);
    EXPECT_EQ(counters.end.value(), (1 + 1 + 1) * kMs) << "late rank, reduction, copy";
    EXPECT_EQ(counters.waited_for_host.value(), kMs);
    EXPECT_EQ(counters.exposed_transfer.value(), (1 - r) * kMs);
  }
}

// Both messages are there at 2 ms, but the receiver's link takes one of them after the other.
TEST(HostClock, ACopyAfterAReceiveStartsWhenTheLinkIsDoneWithIt) {
  const RunReport report = world::run(world_with_host(3), [](Rank& rank) {
    Tensor a = rank.zeros(kMillisecond, Kind::other), b = rank.zeros(kMillisecond, Kind::other);
    if (rank.id() > 0) return rank.world().send(a, 0);
    Tensor host = rank.host_zeros(kMillisecond, Kind::other);
    compute(rank, 1);
    Work first = rank.world().recv_async(a, 1);
    const Work second = rank.world().recv_async(b, 2);
    Work copied = copy_async(host, b, second);
    first.wait();
    copied.wait();
  });
  EXPECT_EQ(counters_of(report, 0).end.value(), (1 + 1 + 1 + 1) * kMs) << "posted, first, second, copy";
  std::vector<std::pair<EventKind, std::int64_t>> ends;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.kind == EventKind::recv) ends.emplace_back(event.kind, event.end.value());
    if (event.kind == EventKind::copy) {
      ends.emplace_back(event.kind, event.end.value());
      EXPECT_EQ(event.begin.value(), 3 * kMs) << "not before the receive's end";
    }
  }
  const std::vector<std::pair<EventKind, std::int64_t>> expected = {
      {EventKind::recv, 2 * kMs}, {EventKind::recv, 3 * kMs}, {EventKind::copy, 4 * kMs}};
  EXPECT_EQ(ends, expected);
}

// A wait for what stands behind the copy on its lane needs the receive's end, too: that is when the link takes it.
TEST(HostClock, AReceiveThatACopyComesAfterTakesTheLinkWhenSomebodyWaitsForTheCopysLane) {
  const RunReport report = world::run(world_with_host(3), [](Rank& rank) {
    Tensor a = rank.zeros(kMillisecond, Kind::other), b = rank.zeros(kMillisecond, Kind::other);
    if (rank.id() > 0) return rank.world().send(a, 0);
    Tensor third = rank.zeros(kMillisecond, Kind::other);
    Tensor host = rank.host_zeros(kMillisecond, Kind::other), other = rank.host_zeros(kMillisecond, Kind::other);
    Work first = rank.world().recv_async(a, 1);
    const Work second = rank.world().recv_async(b, 2);
    Work copied = copy_async(host, b, second);
    Work behind = copy_async(other, third);
    behind.wait();  // 1 ms the message, and two copies of 1 ms
    first.wait();   // its message has waited for the other one's
    copied.wait();
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  for (const front::Event& event : report.ranks[0].trace.events) {
    if (event.kind == EventKind::recv) {
      EXPECT_EQ(event.end.value(), (event.peer == 2 ? 1 : 2) * kMs) << "from rank " << event.peer;
    }
  }
  EXPECT_EQ(counters_of(report, 0).end.value(), 3 * kMs);
}

// What stands on a lane behind something that waits for others waits with it; other lanes go on.
TEST(HostClock, ALaneKeepsItsOrderWhateverItsFirstWaitsFor) {
  const RunReport report = world::run(world_with_host(2), [](Rank& rank) {
    Tensor grad = rank.zeros(500'000, Kind::gradient);
    Tensor shard = rank.zeros(kMillisecond, Kind::gradient), other = rank.zeros(kMillisecond, Kind::other);
    Tensor a = rank.host_zeros(kMillisecond, Kind::gradient), b = rank.host_zeros(kMillisecond, Kind::other);
    compute(rank, rank.id() * 2);
    Work reduced = rank.world().reduce_scatter_async(grad, shard, ReduceOp::sum);
    Work first = copy_async(a, shard, reduced);
    Work second = copy_async(b, other);
    second.wait();
    first.wait();
    reduced.wait();
  });
  for (int r = 0; r < 2; ++r) EXPECT_EQ(counters_of(report, r).end.value(), (2 + 1 + 2) * kMs);
}

TEST(HostClock, OnATableTheHostStillTakesTime) {
  auto options = world_with_host();
  options.cluster.uses_table = true;
  const Counters counters = counters_of(world::run(options, [](Rank& rank) {
    OnHost state(rank, kMillisecond);
    adam(state.w, state.grad, state.m, state.v, {});
    Tensor device = rank.zeros(kMillisecond, Kind::other);
    copy(device, state.w);
  }));
  EXPECT_EQ(counters.end.value(), 2 * kMs);
}

}  // namespace
}  // namespace shardlings::test
