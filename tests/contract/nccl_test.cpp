// The fabric of ranks with a GPU each, between fake GPUs: what the contract suite does not see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "back/fabric/nccl/api.h"
#include "base/dtype.h"
#include "base/parts.h"
#include "support/fake_nccl.h"
#include "support/worlds.h"

namespace shardlings::contract {
namespace {

using back::Collective;
using back::Signature;
using back::nccl::Call;
using back::nccl::make_schedule;
using back::nccl::Schedule;
using support::FakeGpus;
using support::FakeNccl;
using testing::AllOf;
using testing::HasSubstr;
using What = Call::What;

/// Buffers of a signature in memory that nobody touches: of member r from 4096 (r + 1) on, in and out apart.
std::vector<back::Buffers> buffers_of(int members) {
  std::vector<back::Buffers> buffers;
  for (int r = 0; r < members; ++r) {
    const std::uintptr_t base = 4096 * (static_cast<std::uintptr_t>(r) + 1);
    buffers.push_back({nullptr, reinterpret_cast<const void*>(base), reinterpret_cast<void*>(base + 2048)});
  }
  return buffers;
}

Schedule schedule_of(Collective kind, int members, Count count, ReduceOp op = ReduceOp::sum, int root = 0) {
  return make_schedule(Signature{kind, DType::f32, op, root, members, count}, buffers_of(members));
}

std::vector<What> kinds_of(const Schedule& schedule, std::size_t member) {
  std::vector<What> kinds;
  for (const Call& call : schedule.members[member].calls) kinds.push_back(call.what);
  return kinds;
}

TEST(NcclSchedule, UsesTheCollectiveThatThereIs) {
  EXPECT_EQ(kinds_of(schedule_of(Collective::all_reduce, 3, 7), 1), std::vector{What::all_reduce});
  EXPECT_EQ(kinds_of(schedule_of(Collective::all_gather, 4, 8), 3), std::vector{What::all_gather});
  EXPECT_EQ(kinds_of(schedule_of(Collective::reduce_scatter, 4, 8), 0), std::vector{What::reduce_scatter});
  EXPECT_EQ(kinds_of(schedule_of(Collective::broadcast, 2, 5), 0), std::vector{What::broadcast});
  EXPECT_EQ(schedule_of(Collective::all_gather, 4, 8).members[0].calls[0].count, 2) << "NCCL counts one part";
}

TEST(NcclSchedule, TakesPartsOfUnequalSizeOneByOne) {
  const Schedule gather = schedule_of(Collective::all_gather, 3, 7);  // parts of 3, 2, 2
  EXPECT_EQ(kinds_of(gather, 2), std::vector(3, What::broadcast));
  EXPECT_EQ(gather.members[2].calls[0].count, 3);
  EXPECT_EQ(gather.members[2].calls[1].peer, 1);
  EXPECT_EQ(kinds_of(schedule_of(Collective::reduce_scatter, 3, 2), 0), std::vector(2, What::reduce))
      << "the third part is empty";
}

TEST(NcclSchedule, MovesTheBytesThatAreCounted) {
  for (int members = 2; members <= 9; ++members) {
    for (const Count count : {1, 7, 9, 64, 65}) {
      const Schedule schedule = schedule_of(Collective::all_to_all, members, count);
      for (int r = 0; r < members; ++r) {
        Count sent = 0;
        for (const Call& call : schedule.members[static_cast<std::size_t>(r)].calls) {
          if (call.what == What::send) sent += call.count;
        }
        EXPECT_EQ(sent, count - part_of(count, members, r).size());
      }
    }
  }
}

TEST(NcclSchedule, DividesMeansAfterTheSum) {
  const Schedule all = schedule_of(Collective::all_reduce, 3, 6, ReduceOp::mean);
  EXPECT_EQ(all.members[0].calls[0].op, ReduceOp::sum);
  EXPECT_EQ(all.members[2].after.size(), 1U);
  EXPECT_EQ(all.members[2].after[0].n[3], 3) << "by the number of members";
  const Schedule one = schedule_of(Collective::reduce, 3, 6, ReduceOp::mean, 1);
  EXPECT_EQ(one.members[1].after.size(), 1U);
  EXPECT_TRUE(one.members[0].after.empty()) << "only the root has a result";
}

TEST(NcclSchedule, LeavesOutWhatMovesNothing) {
  EXPECT_FALSE(schedule_of(Collective::barrier, 4, 0).communicates());
  EXPECT_FALSE(schedule_of(Collective::all_reduce, 4, 0).communicates());
  const Schedule alone = schedule_of(Collective::all_gather, 1, 5);
  EXPECT_FALSE(alone.communicates());
  EXPECT_EQ(alone.members[0].before.size(), 1U) << "a copy";
}

/// A world on fake GPUs whose NCCL can be looked at.
class NcclFabric : public testing::Test {
 protected:
  front::RunReport run(int ranks, const support::Body& body, double timeout = 60) {
    world::Options options = support::options_for(ranks);
    options.make_device = [&](int) { return gpus_.make_device(); };
    options.make_fabric = [&, ranks] { return back::nccl::make_fabric(nccl_, ranks, timeout); };
    return world::run(options, body);
  }

  FakeGpus gpus_{{3, 50}};
  FakeNccl nccl_{gpus_};
};

TEST_F(NcclFabric, MakesCommunicatorsWhenTheyAreNeeded) {
  run(4, [](Rank&) {});
  EXPECT_EQ(nccl_.splits(), 0);
}

TEST_F(NcclFabric, HasOneCommunicatorForEachGroupOfTheSameRanks) {
  const auto report = run(4, [](Rank& rank) {
    Tensor data = rank.zeros(8, Kind::buffer);
    Group again = rank.world().split(0, rank.id());
    Group half = rank.world().split(rank.id() / 2, rank.id());
    for (int i = 0; i < 3; ++i) {
      rank.world().all_reduce(data, ReduceOp::sum);
      again.all_reduce(data, ReduceOp::sum);
      half.all_reduce(data, ReduceOp::sum);
    }
  });
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(nccl_.splits(), 3) << "the world, and two halves";
}

TEST_F(NcclFabric, HasOneCommunicatorForEachDirectionOfMessages) {
  const auto report = run(2, [](Rank& rank) {
    Tensor out = rank.zeros(8, Kind::buffer), in = rank.zeros(8, Kind::buffer);
    const int peer = 1 - rank.id();
    for (int i = 0; i < 3; ++i) rank.world().send_recv(out, peer, in, peer);
  });
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(nccl_.splits(), 2);
  EXPECT_EQ(nccl_.operations(), 6);
}

// A receive that is posted ahead would block the send behind it on one queue (decision D8).
TEST_F(NcclFabric, LetsAMessagePassAReceiveThatWaits) {
  const auto report = run(2, [](Rank& rank) {
    Group& world = rank.world();
    Tensor early = rank.zeros(4, Kind::buffer), late = rank.zeros(4, Kind::buffer);
    if (rank.id() == 0) {
      Work ahead = world.recv_async(early, 1);
      world.send(late, 1);
      ahead.wait();
    } else {
      world.recv(late, 0);
      world.send(early, 0);
    }
  });
  EXPECT_FALSE(report.failure.has_value());
}

TEST_F(NcclFabric, MeasuresCollectivesAndMessages) {
  const auto report = run(2, [](Rank& rank) {
    Tensor data = rank.zeros(8, Kind::buffer), more = rank.zeros(8, Kind::buffer);
    rank.world().all_reduce(data, ReduceOp::sum);
    for (int i = 0; i < 3; ++i) {
      if (rank.id() == 0) {
        rank.world().send(data, 1);
      } else {
        rank.world().recv(more, 0);
      }
    }
  });
  EXPECT_FALSE(report.failure.has_value());
  for (const front::RankReport& rank : report.ranks) {
    int communications = 0;
    Nanos before;
    for (const front::Event& event : rank.trace.events) {
      const bool communicates = event.kind == front::EventKind::collective || event.kind == front::EventKind::send ||
                                event.kind == front::EventKind::recv;
      if (!communicates) continue;
      ++communications;
      EXPECT_GE(event.measured_begin, before) << "of one order on every rank, each waited for";
      EXPECT_GE(event.measured_end, event.measured_begin);
      before = event.measured_end;
    }
    EXPECT_EQ(communications, 4);
  }
}

TEST_F(NcclFabric, IsNotAskedForWhatDoesNotMatch) {
  const auto report = run(2, [](Rank& rank) {
    Tensor data = rank.zeros(8 + rank.id(), Kind::buffer);
    rank.world().all_reduce(data, ReduceOp::sum);
  });
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->kind, front::FailureKind::mismatch);
  EXPECT_EQ(nccl_.operations(), 0) << "NCCL would hang";
}

TEST_F(NcclFabric, ReportsAnOperationThatDoesNotEnd) {
  const auto report = run(
      3,
      [&](Rank& rank) {
        Tensor data = rank.zeros(8, Kind::buffer);
        rank.world().all_reduce(data, ReduceOp::sum);
        if (rank.id() == 0) nccl_.hang_next();
        rank.world().barrier();
        rank.world().broadcast(data, 1);
        rank.read(data.part({0, 1}));  // here the host waits
      },
      0.3);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->kind, front::FailureKind::hang);
  EXPECT_EQ(report.failure->file, "nccl_test.cpp");
  EXPECT_THAT(report.failure->message,
              AllOf(HasSubstr("call number 3 of group world was started and does not come to its end"),
                    HasSubstr("after 0.3 s it is not over on GPU 0, 1, 2"),
                    HasSubstr("ranks 0, 1, 2: broadcast of 8 f32, root 1 at nccl_test.cpp:")));
}

TEST_F(NcclFabric, ReportsACommunicatorThatHasFailed) {
  const auto report = run(2, [&](Rank& rank) {
    Tensor data = rank.zeros(8, Kind::buffer);
    rank.world().all_reduce(data, ReduceOp::sum);
    rank.world().barrier();
    if (rank.id() == 0) nccl_.fail("the link to GPU 1 is down");
    for (int i = 0; i < 100000; ++i) rank.world().all_reduce(data, ReduceOp::sum);
  });
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_THAT(report.failure->message, HasSubstr("the link to GPU 1 is down"));
}

TEST_F(NcclFabric, FreesEverything) {
  run(3, [](Rank& rank) {
    Tensor data = rank.zeros(9, Kind::buffer);
    rank.world().all_reduce(data, ReduceOp::mean);
    rank.world().send_recv(data.part({0, 3}), (rank.id() + 1) % 3, data.part({3, 6}), (rank.id() + 2) % 3);
  });
  EXPECT_EQ(nccl_.alive(), 0);
  EXPECT_TRUE(nccl_.faults().empty());
}

}  // namespace
}  // namespace shardlings::contract
