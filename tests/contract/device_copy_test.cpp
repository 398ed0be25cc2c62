// Collectives between devices: what the fabric itself promises, below the front.
#include <gtest/gtest.h>

#include <vector>

#include "back/fabric/device_copy/device_schedule.h"
#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "base/parts.h"
#include "support/fake_gpu.h"
#include "support/worlds.h"

namespace shardlings::contract {
namespace {

using back::Buffers;
using back::Collective;
using back::Device;
using back::DeviceLane;
using back::Exchange;
using back::Kernel;
using back::Signature;
using support::FakeGpus;

/// Devices with a buffer each, and one exchange between them.
class DeviceCopy : public testing::Test {
 protected:
  void make(int members, Count count) {
    signature_ = {Collective::all_reduce, DType::f32, ReduceOp::sum, 0, members, count};
    fabric_ = back::make_device_copy_fabric();
    exchange_ = fabric_->make_exchange();
    for (int r = 0; r < members; ++r) {
      devices_.push_back(gpus_.make_device());
      data_.push_back(devices_.back()->allocate(size()));
      const std::vector<float> values(static_cast<std::size_t>(count), static_cast<float>(r + 1));
      devices_.back()->upload(data_.back(), values.data(), size());
    }
  }

  Bytes size() const { return bytes_of(signature_.count, signature_.dtype); }
  Device& device(int r) { return *devices_[static_cast<std::size_t>(r)]; }
  void* data(int r) { return data_[static_cast<std::size_t>(r)]; }

  void post_all() {
    exchange_->begin(signature_.members);
    std::vector<back::DataHandle> handles;
    for (int r = 0; r < signature_.members; ++r)
      handles.push_back(exchange_->post(r, signature_, {&device(r), data(r), data(r)}));
    ASSERT_TRUE(exchange_->launch(signature_, handles)) << "enqueued, so nobody has to help";
  }
  void finish_all() {
    for (int r = 0; r < signature_.members; ++r) exchange_->finish(r);
  }

  float first_of(int r) {
    std::vector<float> values(static_cast<std::size_t>(signature_.count));
    device(r).download(values.data(), data(r), size());
    return values[0];
  }

  FakeGpus gpus_{{5, 100}};
  Signature signature_;
  std::unique_ptr<back::Fabric> fabric_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<void*> data_;
};

TEST_F(DeviceCopy, NeverBlocksTheHost) {
  make(3, 10);
  gpus_.pause();
  for (int i = 0; i < 5; ++i) {
    post_all();
    finish_all();
  }
  EXPECT_EQ(gpus_.kernels_run(), 0) << "everything so far was done while the devices stood still";
  gpus_.resume();
  for (int r = 0; r < 3; ++r) EXPECT_EQ(first_of(r), 6.0F * 81) << "a sum of three, five times";
  EXPECT_TRUE(gpus_.faults().empty());
}

TEST_F(DeviceCopy, StartsWhenTheComputationBeforeThePostIsDone) {
  make(2, 4);
  for (int i = 0; i < 30; ++i) {
    Kernel kernel;
    kernel.id = back::KernelId::fill;
    kernel.n[0] = 4;
    for (int r = 0; r < 2; ++r) {
      kernel.out[0] = data(r);
      kernel.f[0] = static_cast<float>(i + r);
      device(r).launch(kernel);
    }
    post_all();
    finish_all();
    ASSERT_EQ(first_of(0), static_cast<float>(2 * i + 1));
  }
}

// A member's memory is read by the others: it may be written or released after finish(), not before they are done.
TEST_F(DeviceCopy, ProtectsInputsUntilAllHaveReadThem) {
  make(4, 1000);
  signature_.kind = Collective::broadcast;
  for (int i = 0; i < 30; ++i) {
    post_all();
    exchange_->finish(0);
    Kernel kernel;
    kernel.id = back::KernelId::fill;
    kernel.n[0] = signature_.count;
    kernel.out[0] = data(0);
    kernel.f[0] = static_cast<float>(i + 2);
    device(0).launch(kernel);
    for (int r = 1; r < 4; ++r) exchange_->finish(r);
    for (int r = 1; r < 4; ++r) ASSERT_EQ(first_of(r), static_cast<float>(i + 1)) << "not the value written afterwards";
  }
}

TEST_F(DeviceCopy, LeavesNoScratchMemoryBehind) {
  make(20, 100);
  post_all();
  finish_all();
  EXPECT_EQ(first_of(7), 210.0F);
  for (int r = 0; r < 20; ++r) device(r).release(data(r), size());
  for (int r = 0; r < 20; ++r) device(r).synchronize();
  EXPECT_EQ(gpus_.blocks_alive(), 0);
  EXPECT_TRUE(gpus_.faults().empty());
}

/// What a phase of a schedule reads and writes, as stretches of addresses.
struct MemoryAccess {
  int member;
  const std::byte* begin;
  const std::byte* end;
  bool writes;
};

std::vector<MemoryAccess> accesses(const std::vector<std::vector<Kernel>>& phase, DType dtype) {
  std::vector<MemoryAccess> all;
  for (std::size_t m = 0; m < phase.size(); ++m) {
    for (const Kernel& kernel : phase[m]) {
      const bool reduces = kernel.id == back::KernelId::reduce;
      const std::int64_t size = reduces ? bytes_of(kernel.n[0], dtype).value() : kernel.n[0];
      const auto add = [&](const void* address, bool writes) {
        const auto* begin = static_cast<const std::byte*>(address);
        if (begin) all.push_back({static_cast<int>(m), begin, begin + size, writes});
      };
      add(kernel.out[0], true);
      for (const void* in : kernel.in) add(in, false);
    }
  }
  return all;
}

// What the fabric's correctness in place rests on.
TEST(DeviceSchedule, NobodyWritesWhatAnotherUsesInTheSamePhase) {
  for (int members = 1; members <= 8; ++members) {
    for (const Count count : {Count{0}, Count{1}, Count{7}, Count{64}}) {
      for (int kind = 0; kind < static_cast<int>(Collective::barrier); ++kind) {
        const Signature signature{
            static_cast<Collective>(kind), DType::f32, ReduceOp::sum, members - 1, members, count};
        std::vector<std::vector<std::byte>> memory(static_cast<std::size_t>(members), std::vector<std::byte>(1024));
        std::vector<Buffers> buffers;
        for (int r = 0; r < members; ++r) {
          std::byte* data = memory[static_cast<std::size_t>(r)].data();
          const std::int64_t mine = bytes_of(part_of(count, members, r).begin, signature.dtype).value();
          const bool out_is_part =
              signature.kind == Collective::reduce_scatter || signature.kind == Collective::scatter;
          const bool in_is_part = signature.kind == Collective::all_gather || signature.kind == Collective::gather;
          const std::int64_t apart = signature.kind == Collective::all_to_all ? 512 : 0;
          buffers.push_back({nullptr, data + (in_is_part ? mine : 0), data + (out_is_part ? mine : 0) + apart});
        }
        const std::vector<void*> scratch(buffers.size());
        for (const auto& phase : back::make_device_schedule(signature, buffers, scratch).of_member) {
          const std::vector<MemoryAccess> all = accesses(phase, signature.dtype);
          for (const MemoryAccess& a : all) {
            for (const MemoryAccess& b : all) {
              const bool overlap = a.begin < b.end && b.begin < a.end;
              ASSERT_FALSE(overlap && a.writes && a.member != b.member)
                  << back::name_of(signature.kind) << " of " << count << ", " << members << " members: " << a.member
                  << " writes what " << b.member << " uses";
            }
          }
        }
      }
    }
  }
}

// Blocking calls of the front return when all have posted, not when the devices are done.
TEST(DeviceCopyInAWorld, RanksRunAheadOfTheirDevices) {
  FakeGpus gpus;
  world::Options options = support::options_for(4);
  options.poison_empty = false;
  options.make_device = [&](int) { return gpus.make_device(); };
  options.make_fabric = back::make_device_copy_fabric;
  gpus.pause();
  std::atomic<int> ahead{0};
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    Tensor data = rank.zeros(100, Kind::buffer);
    for (int i = 0; i < 10; ++i) rank.world().all_reduce(data, ReduceOp::sum);
    if (++ahead == 4) {
      EXPECT_EQ(gpus.kernels_run(), 0);
      gpus.resume();
    }
  });
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_GT(gpus.kernels_run(), 0);
  EXPECT_TRUE(gpus.faults().empty());
}

TEST(Worlds, GiveEachRankItsDeviceInEveryRun) {
  std::vector<int> asked;
  world::Options options = support::options_for(3);
  options.make_device = [&](int rank) {
    asked.push_back(rank);
    return back::make_cpu_device();
  };
  for (int run = 0; run < 2; ++run) EXPECT_FALSE(world::run(options, [](Rank&) {}).failure.has_value());
  EXPECT_EQ(asked, (std::vector<int>{0, 1, 2, 0, 1, 2}));
}

}  // namespace
}  // namespace shardlings::contract
