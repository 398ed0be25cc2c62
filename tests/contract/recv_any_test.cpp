// A receive from any rank: which message it takes, the same one on every kind of world and in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "base/dtype.h"
#include "contract/on_every_world.h"
#include "front/clock/cost.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;
using testing::ElementsAre;

class RecvAny : public OnEveryWorld {};

/// Passes virtual time: the more, the more elements; tens of thousands are some microseconds.
void compute(Rank& rank, Count elements) {
  Tensor x = rank.zeros(elements, Kind::buffer);
  scale(x, 1);
}

/// What compute() takes.
Nanos computing(const front::CostModel& costs, Count elements) {
  const Bytes bytes = bytes_of(elements, DType::f32);
  return costs.operation({Flops(elements), bytes + bytes});
}

/// Takes part in a sum of messages: who has sent them, in this order.
std::vector<float> receive(Rank& rank, Group& group, int messages, Count size) {
  std::vector<float> senders;
  Tensor data = rank.empty(size, Kind::buffer);
  for (int i = 0; i < messages; ++i) senders.push_back(static_cast<float>(group.recv_any(data)));
  return senders;
}

// Rank r sends the later the higher its number, but for rank 1, which is the last.
TEST_P(RecvAny, TakesTheMessageThatCouldBeHereFirst) {
  for (const int ranks : possible({2, 3, 4, 8})) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      Group& world = rank.world();
      if (rank.id() == 0) {
        publish(rank, "senders", load(rank, receive(rank, world, ranks - 1, 3)));
      } else {
        compute(rank, 100'000 * (rank.id() == 1 ? ranks : rank.id()));
        world.send(load(rank, {1, 2, 3}), 0);
      }
    });
    std::vector<float> expected;
    for (int r = 2; r < ranks; ++r) expected.push_back(static_cast<float>(r));
    expected.push_back(1);
    EXPECT_EQ(published(report, 0, "senders"), expected);
  }
}

// The receiver comes late, when all messages could be there: they are taken in the order in which they could have come.
TEST_P(RecvAny, OrderDoesNotDependOnWhenItIsCalled) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const RunReport report = run(4, [](Rank& rank) {
    if (rank.id() == 0) {
      compute(rank, 10'000'000);
      publish(rank, "senders", load(rank, receive(rank, rank.world(), 3, 1)));
    } else {
      compute(rank, 100'000 * (4 - rank.id()));
      rank.world().send(load(rank, {1}), 0);
    }
  });
  EXPECT_THAT(published(report, 0, "senders"), ElementsAre(3, 2, 1));
}

// Rank 2's message to rank 0 is there early in real time. But what rank 1 is granted lets it send one that is earlier.
TEST_P(RecvAny, WaitsForWhatComesOfEarlierMessagesElsewhere) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const RunReport report = run(4, [](Rank& rank) {
    Group& world = rank.world();
    Tensor data = load(rank, {1});
    if (rank.id() == 0) publish(rank, "senders", load(rank, receive(rank, world, 2, 1)));
    if (rank.id() == 1) {
      world.recv_any(data);
      world.send(data, 0);
    }
    if (rank.id() == 2) compute(rank, 1'000'000);
    if (rank.id() >= 2) world.send(data, 3 - rank.id() == 0 ? 1 : 0);
  });
  EXPECT_THAT(published(report, 0, "senders"), ElementsAre(1, 2));
}

// A short message that leaves later may be there before a long one.
TEST_P(RecvAny, LengthCounts) {
  if (!supports(3)) GTEST_SKIP() << lacks(3);
  const RunReport report = run(3, [](Rank& rank) {
    Group& world = rank.world();
    if (rank.id() == 0) {
      Tensor header = rank.empty(1, Kind::buffer), rest = rank.empty(1'000'000, Kind::buffer);
      const int first = world.recv_any(header);
      world.recv(rest, 3 - first);
      publish(rank, "header", header);
    } else if (rank.id() == 1) {
      world.send(rank.zeros(1'000'000, Kind::buffer), 0);
    } else {
      compute(rank, 100'000);
      world.send(load(rank, {7}), 0);
    }
  });
  EXPECT_THAT(published(report, 0, "header"), ElementsAre(7));
}

TEST_P(RecvAny, OfEqualOnesTheLowestRankOfTheGroupIsFirst) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const RunReport report = run(4, [](Rank& rank) {
    Group reversed = rank.world().split(0, -rank.id(), "reversed");
    if (rank.id() == 3) {  // rank 0 of the group
      publish(rank, "senders", load(rank, receive(rank, reversed, 3, 1)));
    } else {
      reversed.send(load(rank, {1}), 0);
    }
  });
  EXPECT_THAT(published(report, 3, "senders"), ElementsAre(1, 2, 3));
}

// Of one sender messages stay in order, whoever asks for them, and those of a receive that was posted before are not
// its.
TEST_P(RecvAny, SharesOneQueueWithReceivesFromThatRank) {
  const RunReport report = run(2, [](Rank& rank) {
    Group& world = rank.world();
    if (rank.id() == 0) {
      std::vector<Tensor> got;
      for (int i = 0; i < 4; ++i) got.push_back(rank.empty(1, Kind::buffer));
      world.recv_any(got[0]);
      Work second = world.recv_async(got[1], 1);
      world.recv_any(got[2]);
      world.recv(got[3], 1);
      second.wait();
      for (int i = 0; i < 4; ++i) publish(rank, std::to_string(i), got[static_cast<std::size_t>(i)]);
    } else {
      std::vector<Tensor> sent;
      std::vector<Work> works;
      for (int i = 0; i < 4; ++i) sent.push_back(load(rank, {static_cast<float>(10 + i)}));
      for (const Tensor& one : sent) works.push_back(world.send_async(one, 0));
      for (Work& work : works) work.wait();
    }
  });
  for (int i = 0; i < 4; ++i) EXPECT_THAT(published(report, 0, std::to_string(i)), ElementsAre(10 + i));
}

// Bytes, calls, times and events are those of a receive from that rank, at the same call.
TEST_P(RecvAny, CountsAsAReceiveFromThatRank) {
  const auto body = [](bool any) {
    return [any](Rank& rank) {
      Tensor data = rank.zeros(1000, Kind::buffer);
      if (rank.id() == 1) {
        compute(rank, 50'000);
        rank.world().send(data, 0);
      } else if (rank.id() == 0) {
        if (any) {
          EXPECT_EQ(rank.world().recv_any(data), 1);
        } else {
          rank.world().recv(data, 1);
        }
      }
    };
  };
  const RunReport any = run(2, body(true)), one = run(2, body(false));
  for (std::size_t r = 0; r < 2; ++r) {
    front::Counters got = any.ranks[r].counters, expected = one.ranks[r].counters;
    got.peak_line = expected.peak_line;
    EXPECT_EQ(got, expected) << "rank " << r;
  }
  const front::RankTrace& trace = any.ranks[0].trace;
  ASSERT_EQ(trace.events.size(), one.ranks[0].trace.events.size());
  const front::Event& event = *std::find_if(trace.events.begin(), trace.events.end(),
                                            [](const auto& e) { return e.kind == front::EventKind::recv; });
  EXPECT_EQ(trace.names.at(event.name), "recv_any");
  EXPECT_EQ(event.peer, 1);
}

TEST(RecvAnyCall, RefusesWhatCannotBe) {
  const auto message_of = [](int ranks, void (*call)(Rank&)) {
    const RunReport report = world::run(support::options_for(ranks), [call](Rank& rank) {
      if (rank.id() == 0) call(rank);
    });
    return report.failure ? report.failure->message : "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message_of(1, [](Rank& rank) { rank.world().recv_any(rank.empty(2, Kind::buffer)); }),
              HasSubstr("recv_any: group world has no other rank that could send"));
  EXPECT_THAT(message_of(2, [](Rank& rank) { rank.world().recv_any({}); }), HasSubstr("recv_any: `data` is empty"));
  EXPECT_THAT(message_of(2, [](Rank& rank) { Group().recv_any(rank.empty(2, Kind::buffer)); }),
              HasSubstr("this Group is empty"));
}

// Whoever waits for a reply sends no more until it has it: so the next request of a rank is known, and with it the one
// that is served next. This loop knows nothing of the runtime but the costs.
std::vector<float> order_of_service(const std::vector<std::vector<Count>>& work, Count serving, int ranks) {
  const front::CostModel costs(support::test_cluster());
  const auto transfer = [&](int peer) {
    const front::Link link = costs.link_between(0, peer);
    return costs.latency(link) + costs.occupancy(Bytes(4), link);
  };
  std::vector<float> order;
  std::vector<std::size_t> round(static_cast<std::size_t>(ranks), 0);
  std::vector<Nanos> asks(static_cast<std::size_t>(ranks));  // when the next request is sent
  for (int r = 1; r < ranks; ++r) {
    asks[static_cast<std::size_t>(r)] = computing(costs, work[static_cast<std::size_t>(r)][0]);
  }
  for (Nanos server;;) {
    int next = 0;
    for (int r = 1; r < ranks; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (round[i] == work[i].size()) continue;
      if (next == 0 || asks[i] + transfer(r) < asks[static_cast<std::size_t>(next)] + transfer(next)) next = r;
    }
    if (next == 0) return order;
    const auto n = static_cast<std::size_t>(next);
    order.push_back(static_cast<float>(next));
    server = std::max(server, asks[n]) + transfer(next) + computing(costs, serving);
    const Nanos replied = server + transfer(next);
    server = replied;
    if (++round[n] < work[n].size()) asks[n] = replied + computing(costs, work[n][round[n]]);
  }
}

/// Rank 0 serves the others, each of which computes, asks and waits for the reply, again and again.
RunReport serve(const support::WorldKind& kind, const std::vector<std::vector<Count>>& work, int ranks,
                std::uint64_t seed) {
  constexpr Count kServing = 3'000;
  int requests = 0;
  for (const auto& rounds : work) requests += static_cast<int>(rounds.size());
  return support::run_well(kind, support::options_for(ranks), {seed, seed == 0 ? 0 : 20}, [&](Rank& rank) {
    std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(rank.id()));
    Group& world = rank.world();
    Tensor data = load(rank, {1});
    std::vector<float> order;
    if (rank.id() == 0) {
      for (int i = 0; i < requests; ++i) {
        const int from = world.recv_any(data);
        compute(rank, kServing);
        world.send(data, from);
        order.push_back(static_cast<float>(from));
      }
      publish(rank, "order", load(rank, order));
      return;
    }
    for (const Count elements : work[static_cast<std::size_t>(rank.id())]) {
      compute(rank, elements);
      if (seed != 0 && random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      world.send(data, 0);
      world.recv(data, 0);
    }
  });
}

std::vector<std::vector<Count>> random_work(std::uint64_t seed, int ranks) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<Count>> work(static_cast<std::size_t>(ranks));
  for (int r = 1; r < ranks; ++r) {
    const auto rounds = 1 + random() % 6;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      work[static_cast<std::size_t>(r)].push_back(1 + static_cast<Count>(random() % 60'000));
    }
  }
  return work;
}

TEST_P(RecvAny, ServesInTheOrderOfVirtualTime) {
  for (const int ranks : possible({2, 3, 4, 5, 7, 9})) {
    const auto work = random_work(static_cast<std::uint64_t>(ranks), ranks);
    const RunReport report = serve(GetParam(), work, ranks, static_cast<std::uint64_t>(ranks));
    ASSERT_FALSE(report.failure);
    EXPECT_EQ(published(report, 0, "order"), order_of_service(work, 3'000, ranks)) << ranks << " ranks";
  }
}

// One fixed program, again and again with other pauses: counters, traces and times are equal bit for bit.
TEST_P(RecvAny, IsTheSameInTwoHundredRuns) {
  const std::string kind = GetParam().name;
  const bool starts_processes = kind == "forked" || kind == "jailed";
  const int ranks = most(6), runs = starts_processes ? 10 : 200;
  const auto work = random_work(11, ranks);
  const RunReport first = serve(support::world_kinds().front(), work, ranks, 0);
  for (int i = 1; i <= runs && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(i));
    const RunReport again = serve(GetParam(), work, ranks, static_cast<std::uint64_t>(i));
    support::expect_same(again, first, GetParam().own_arithmetic ? 1e-5 : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(World, RecvAny, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
