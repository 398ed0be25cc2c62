// The host's memory and lanes on every kind of world: the same numbers, counters, clock and traces.
#include <gtest/gtest.h>

#include <vector>

#include "contract/collective_case.h"
#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using support::load;
using support::publish;
using support::published;

class Host : public OnEveryWorld {};

constexpr AdamStep kStep{.lr = 0.01F, .weight_decay = 0.1F, .step = 3};

std::vector<float> host_ramp(int rank, int layer, Count size) {
  std::vector<float> values;
  for (Count i = 0; i < size; ++i) {
    values.push_back(0.3F * static_cast<float>(rank + 1) - 0.1F * static_cast<float>(layer) +
                     0.01F * static_cast<float>(i % 17));
  }
  return values;
}

/// Weights, gradient and moments of a layer, in one of the memories.
struct State {
  Tensor w, grad, m, v;
};

State on_device(Rank& rank, int layer, Count n) {
  return {load(rank, host_ramp(rank.id(), layer, n)), load(rank, host_ramp(rank.id() + 5, layer, n)),
          load(rank, host_ramp(0, layer + 1, n)), load(rank, std::vector<float>(static_cast<std::size_t>(n), 0.5F))};
}

State on_host(Rank& rank, const State& device) {
  const auto there = [&](const Tensor& t) {
    Tensor host = rank.host_empty(t.shape(), Kind::optimizer);
    copy(host, t);
    return host;
  };
  return {there(device.w), there(device.grad), there(device.m), there(device.v)};
}

// The host's processor computes what the device would, bit for bit.
TEST_P(Host, AdamIsTheDevices) {
  for (const int ranks : possible({1, 2, 4})) {
    const auto report = run(ranks, [](Rank& rank) {
      State device = on_device(rank, 0, 1000 + rank.id());
      State host = on_host(rank, device);
      adam(device.w, device.grad, device.m, device.v, kStep);
      adam_async(host.w, host.grad, host.m, host.v, kStep).wait();
      publish(rank, "device", device.w);
      publish(rank, "host", host.w);
      publish(rank, "device v", device.v);
      publish(rank, "host v", host.v);
    });
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(published(report, r, "device"), published(report, r, "host"));
      EXPECT_EQ(published(report, r, "device v"), published(report, r, "host v"));
    }
  }
}

/// A step of an optimizer on the host, in chains of three lanes that begin with a reduction; the program computes on.
void offloaded_step(Rank& rank, int layers, Count n) {
  Group& world = rank.world();
  std::vector<State> device, host;
  std::vector<Tensor> shards;
  std::vector<Work> filled;
  Tensor busy = load(rank, host_ramp(rank.id(), 9, 64 * 64), {64, 64});
  for (int l = 0; l < layers; ++l) {
    device.push_back(on_device(rank, l, n + l));
    host.push_back(on_host(rank, device.back()));
    shards.push_back(rank.empty(world.mine(n + l).size(), Kind::gradient));
  }
  for (int l = layers - 1; l >= 0; --l) {
    const auto i = static_cast<std::size_t>(l);
    const Range mine = world.mine(n + l);
    Tensor grad = std::move(device[i].grad);
    const Work reduced = world.reduce_scatter_async(grad, shards[i], ReduceOp::mean).keep(std::move(grad));
    const Work drained = copy_async(host[i].grad.part(mine), shards[i], reduced);
    const Work updated = adam_async(host[i].w.part(mine), host[i].grad.part(mine), host[i].m.part(mine),
                                    host[i].v.part(mine), kStep, drained);
    filled.push_back(copy_async(device[i].w.part(mine), host[i].w.part(mine), updated));
    busy = gelu(busy);
  }
  for (Work& work : filled) work.wait();
  for (int l = 0; l < layers; ++l) {
    Tensor& w = device[static_cast<std::size_t>(l)].w;
    world.all_gather(w.part(world.mine(n + l)), w);
    publish(rank, "w" + std::to_string(l), w);
  }
}

TEST_P(Host, ChainsOfThreeLanesBehindCollectives) {
  for (int ranks = least(1); ranks <= most(5); ++ranks) {
    const auto report = run(ranks, [](Rank& rank) { offloaded_step(rank, 5, 37); });
    // The same on the device, without any lane.
    const auto plain = run(ranks, [](Rank& rank) {
      Group& world = rank.world();
      for (int l = 0; l < 5; ++l) {
        State s = on_device(rank, l, 37 + l);
        const Range mine = world.mine(37 + l);
        world.all_reduce(s.grad, ReduceOp::mean);
        adam(s.w.part(mine), s.grad.part(mine), s.m.part(mine), s.v.part(mine), kStep);
        world.all_gather(s.w.part(mine), s.w);
        publish(rank, "w" + std::to_string(l), s.w);
      }
    });
    for (int r = 0; r < ranks; ++r) {
      for (const char* name : {"w0", "w1", "w2", "w3", "w4"}) {
        support::expect_values(published(report, r, name), published(plain, r, name), name);
      }
      const front::Counters& counters = report.ranks[static_cast<std::size_t>(r)].counters;
      EXPECT_EQ(counters.copies[0].calls, 5 + 5 * 4);
      EXPECT_EQ(counters.copies[1].calls, 5);
    }
  }
}

// What the program computes before the call is there, and what it computes after the wait sees the result.
TEST_P(Host, CopiesStandInTheProgramsOrder) {
  for (const int ranks : possible({1, 2})) {
    const auto report = run(ranks, [](Rank& rank) {
      Tensor a = rank.zeros(4096, Kind::other), b = rank.zeros(4096, Kind::other);
      Tensor host = rank.host_zeros(4096, Kind::other);
      for (int i = 0; i < 20; ++i) {
        fill(a, static_cast<float>(i));
        Work there = copy_async(host, a);
        Work back = copy_async(b, host, there);
        back.wait();
        fill(a, -1);
        if (i % 2 == 0) copy(host, b);
        scale(b, 2);
        publish(rank, "b", b.part({i, i + 1}));
      }
    });
    for (const front::RankReport& rank : report.ranks) {
      for (std::size_t i = 0; i < rank.published.size(); ++i) {
        EXPECT_EQ(rank.published[i].values[0], 2 * static_cast<float>(i));
      }
    }
  }
}

// Memory of the host that is dropped at once after the wait, and used again by the next.
TEST_P(Host, MemoryIsFreedInOrder) {
  for (const int ranks : possible({1, 3})) {
    const auto report = run(ranks, [](Rank& rank) {
      Tensor sum = rank.zeros(100, Kind::other);
      for (int i = 0; i < 30; ++i) {
        Tensor host = rank.host_empty(100, Kind::buffer), device = rank.zeros(100, Kind::buffer);
        fill(device, static_cast<float>(i));
        Work there = copy_async(host, device).keep(std::move(device));
        Tensor back = rank.empty(100, Kind::buffer);
        Work work = copy_async(back, host, there).keep(std::move(host));
        work.wait();
        add(sum, back);
      }
      publish(rank, "sum", sum);
    });
    for (int r = 0; r < ranks; ++r) EXPECT_EQ(published(report, r, "sum"), std::vector<float>(100, 435.0F));
  }
}

INSTANTIATE_TEST_SUITE_P(World, Host, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
