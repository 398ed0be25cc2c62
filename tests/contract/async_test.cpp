// Asynchronous work: any number of it, waited for in any order, beside computation.
#include <gtest/gtest.h>

#include "contract/collective_case.h"
#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;

class Async : public OnEveryWorld {};

std::vector<float> ramp(int r, int i, Count size) {
  std::vector<float> values;
  for (Count k = 0; k < size; ++k)
    values.push_back(0.1F * static_cast<float>(r + 1) + static_cast<float>(i) + 0.01F * static_cast<float>(k));
  return values;
}

std::vector<float> sum_of_ramps(int ranks, int i, Count size) {
  std::vector<std::vector<float>> inputs;
  for (int r = 0; r < ranks; ++r) inputs.push_back(ramp(r, i, size));
  return combined(inputs, ReduceOp::sum, DType::f32);
}

std::string bucket(int i) {
  return "bucket " + std::to_string(i);
}

/// Starts many sums, waits for them in an order of its own, and publishes them.
void many_sums(Rank& rank, int count, bool backwards) {
  std::vector<Tensor> buckets;
  std::vector<Work> works;
  for (int i = 0; i < count; ++i) {
    buckets.push_back(load(rank, ramp(rank.id(), i, 1 + i % 37)));
    works.push_back(rank.world().all_reduce_async(buckets.back(), ReduceOp::sum));
  }
  for (int k = 0; k < count; ++k) works[static_cast<std::size_t>(backwards ? count - 1 - k : k)].wait();
  for (int i = 0; i < count; ++i) publish(rank, bucket(i), buckets[static_cast<std::size_t>(i)]);
}

TEST_P(Async, TwoHundredOutstanding) {
  for (const int ranks : possible({2, 4, 8})) {
    for (const bool backwards : {false, true}) {
      const RunReport report = run(ranks, [&](Rank& rank) { many_sums(rank, 200, backwards); });
      for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < 200; ++i) {
          support::expect_values(published(report, r, bucket(i)), sum_of_ramps(ranks, i, 1 + i % 37), bucket(i));
        }
      }
    }
  }
}

// Even ranks wait at once, odd ones late: nobody's progress depends on when another waits.
TEST_P(Async, CompletesWithoutItsMembers) {
  for (int ranks = least(2); ranks <= most(9); ++ranks) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      Tensor sum = load(rank, ramp(rank.id(), 0, 100));
      Tensor got = rank.zeros(10, Kind::buffer);
      Work work = rank.world().all_reduce_async(sum, ReduceOp::sum);
      if (rank.id() % 2 == 0) work.wait();
      if (rank.id() == 0) {
        rank.world().send(load(rank, ramp(7, 7, 10)), 1);
      } else if (rank.id() == 1) {
        rank.world().recv(got, 0);
      }
      work.wait();
      work.wait();  // again: nothing
      publish(rank, "sum", sum);
      publish(rank, "got", got);
    });
    for (int r = 0; r < ranks; ++r)
      support::expect_values(published(report, r, "sum"), sum_of_ramps(ranks, 0, 100), "sum");
    EXPECT_EQ(published(report, 1, "got"), ramp(7, 7, 10));
  }
}

// The gradient of one layer travels while the next is computed; a tensor that nobody needs any more is kept alive.
TEST_P(Async, OverlapsComputation) {
  for (const int ranks : possible({2, 4})) {
    const RunReport report = run(
        ranks,
        [&](Rank& rank) {
          Tensor a = load(rank, ramp(rank.id(), 1, 64 * 64), {64, 64});
          Work before;
          Tensor mine = rank.zeros(rank.world().mine(64 * 64).size(), Kind::gradient);
          for (int i = 0; i < 5; ++i) {
            Tensor gradient = matmul(a, a, nt);
            before.wait();
            before = rank.world().reduce_scatter_async(gradient, mine, ReduceOp::mean).keep(std::move(gradient));
            Tensor next = gelu(a);
            scale(next, 0.25F);
            a = std::move(next);
          }
          before.wait();
          publish(rank, "mine", mine);
          publish(rank, "a", a);
        },
        kCloseF32);
    for (const front::RankReport& rank : report.ranks) {
      EXPECT_GT(rank.counters.overlapped_transfer.value(), 0);
      EXPECT_EQ(rank.counters.calls(Collective::reduce_scatter), 5);
    }
  }
}

// What is in flight may be used as long as nobody writes what another uses: inputs are read by several, and of one
// tensor the upper part travels while the lower is still computed.
TEST_P(Async, SharesWhatMayBeShared) {
  for (const int ranks : possible({2, 3, 4})) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      const int next = (rank.id() + 1) % ranks;
      const int last = (rank.id() + ranks - 1) % ranks;
      Tensor mine = load(rank, ramp(rank.id(), 3, 10));
      Tensor whole = rank.empty(10 * ranks, Kind::buffer);
      Tensor got = rank.empty(10, Kind::buffer);
      Tensor grads = load(rank, ramp(rank.id(), 4, 40));
      Work gathered = rank.world().all_gather_async(mine, whole);
      Work sent = rank.world().send_async(mine, next);
      Tensor copied = clone(mine);
      Work upper = rank.world().all_reduce_async(grads.part({20, 40}), ReduceOp::sum);
      scale(grads.part({0, 20}), 2.0F);
      Work lower = rank.world().all_reduce_async(grads.part({0, 20}), ReduceOp::sum);
      rank.world().recv(got, last);
      for (Work* work : {&lower, &sent, &gathered, &upper}) work->wait();
      for (ConstView view : {ConstView(whole), ConstView(got), ConstView(copied)}) publish(rank, "view", view);
      publish(rank, "grads", grads);
    });
    const std::vector<float> sum = sum_of_ramps(ranks, 4, 40);
    for (int r = 0; r < ranks; ++r) {
      const std::vector<float>& grads = published(report, r, "grads");
      for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(grads[i], i < 20 ? 2 * sum[i] : sum[i]);
    }
  }
}

// The same collectives of several groups, all started before any is waited for.
TEST_P(Async, InSeveralGroups) {
  const RunReport report = run(4, [](Rank& rank) {
    Group row = rank.world().split(rank.id() / 2, 0);
    Group column = rank.world().split(rank.id() % 2, 0);
    std::vector<Work> works;
    std::vector<Tensor> sums;
    for (int i = 0; i < 30; ++i) {
      sums.push_back(load(rank, ramp(rank.id(), i, 50)));
      Group& group = i % 3 == 0 ? row : (i % 3 == 1 ? column : rank.world());
      works.push_back(group.all_reduce_async(sums.back(), ReduceOp::max));
    }
    for (Work& work : works) work.wait();
    for (int i = 0; i < 30; ++i) publish(rank, bucket(i), sums[static_cast<std::size_t>(i)]);
  });
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < 30; ++i) {
      const int largest = i % 3 == 0 ? r / 2 * 2 + 1 : (i % 3 == 1 ? r % 2 + 2 : 3);
      EXPECT_EQ(published(report, r, bucket(i)), ramp(largest, i, 50));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(World, Async, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
