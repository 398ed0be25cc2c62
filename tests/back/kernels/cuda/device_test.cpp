// The host's side of a CUDA device: memory, events, measured times.
#include "back/kernels/cuda/device.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include "back/kernels/cuda/emulation/emulation.h"
#include "back/kernels/kernel_ids.h"
#include "support/host.h"
#include "support/test_device.h"
#include "support/worlds.h"

namespace shardlings::back::cuda {
namespace {

constexpr Bytes kSize{4 * sizeof(float)};
using Four = std::array<float, 4>;

Kernel fill_with(float value, void* where) {
  Kernel kernel;
  kernel.id = KernelId::fill;
  kernel.out[0] = where;
  kernel.n[0] = 4;
  kernel.f[0] = value;
  return kernel;
}

Kernel copy_to(void* to, const void* from) {
  Kernel kernel;
  kernel.id = KernelId::copy;
  kernel.out[0] = to;
  kernel.in[0] = from;
  kernel.n[0] = kSize.value();
  return kernel;
}

Four values_at(Device& device, const void* address) {
  Four values{};
  device.download(values.data(), address, kSize);
  return values;
}

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override { emulation::delay_streams(7, 200); }
  void TearDown() override {
    emulation::delay_streams(0, 0);
    EXPECT_TRUE(emulation::take_faults().empty());
    EXPECT_EQ(emulation::blocks_alive(), 0);
  }
};

TEST_F(CudaDevice, KeepsWhatWasUploaded) {
  const auto device = emulation::make_device();
  void* memory = device->allocate(kSize);
  Four values = {1, 2, 3, 4};
  device->upload(memory, values.data(), kSize);
  values = {};  // may be reused on return
  EXPECT_EQ(values_at(*device, memory), Four({1, 2, 3, 4}));
  device->release(memory, kSize);
}

TEST_F(CudaDevice, GoesOnAfterEventsOfOtherDevices) {
  const auto one = emulation::make_device();
  const auto two = emulation::make_device();
  void* from = one->allocate(kSize);
  void* to = two->allocate(kSize);
  for (int i = 0; i < 40; ++i) {
    const auto value = static_cast<float>(i);
    one->launch(fill_with(value, from), DeviceLane::compute);
    two->wait(DeviceLane::communication, one->record(DeviceLane::compute));
    two->launch(copy_to(to, from), DeviceLane::communication);
    two->wait(DeviceLane::compute, two->record(DeviceLane::communication));
    ASSERT_EQ(values_at(*two, to), Four({value, value, value, value}));
  }
  one->release(from, kSize);
  two->release(to, kSize);
}

TEST_F(CudaDevice, AnOldEventStandsForALaterPointOfItsLane) {
  const auto device = emulation::make_device();
  void* memory = device->allocate(kSize);
  void* copy = device->allocate(kSize);
  device->launch(fill_with(1, memory), DeviceLane::compute);
  const DeviceEvent old = device->record(DeviceLane::compute);
  for (int i = 0; i < 1000; ++i) device->record(DeviceLane::compute);
  device->wait(DeviceLane::communication, old);
  device->launch(copy_to(copy, memory), DeviceLane::communication);
  device->wait(DeviceLane::compute, device->record(DeviceLane::communication));
  EXPECT_EQ(values_at(*device, copy)[0], 1.0F);
  device->release(memory, kSize);
  device->release(copy, kSize);
}

TEST_F(CudaDevice, EventsOutliveTheirDevice) {
  auto one = emulation::make_device();
  const auto two = emulation::make_device();
  void* memory = two->allocate(kSize);
  const DeviceEvent event = one->record(DeviceLane::compute);
  one.reset();
  two->wait(DeviceLane::compute, event);
  two->wait(DeviceLane::compute, 0);
  two->wait(DeviceLane::compute, DeviceEvent{100000} << 40U);  // nobody's
  two->launch(fill_with(2, memory), DeviceLane::compute);
  EXPECT_EQ(values_at(*two, memory), Four({2, 2, 2, 2})) << "what comes after the waits never ran";
  two->release(memory, kSize);
}

TEST_F(CudaDevice, TriesAgainWhenOtherPoolsHaveGivenBackWhatTheyKeep) {
  const auto device = emulation::make_device();
  emulation::refuse_allocations(1);
  void* memory = device->allocate(kSize);
  EXPECT_NE(memory, nullptr);
  device->release(memory, kSize);
  emulation::refuse_allocations(2);
  EXPECT_THROW(device->allocate(kSize), std::bad_alloc);
}

TEST_F(CudaDevice, EveryTensorHasAnAddress) {
  const auto device = emulation::make_device();
  void* one = device->allocate(Bytes(0));
  void* two = device->allocate(Bytes(0));
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, two);
  device->release(one, Bytes(0));
  device->release(two, Bytes(0));
}

TEST_F(CudaDevice, ComputesOnTheHostBetweenItsCopies) {
  const auto device = emulation::make_device();
  void* memory = device->allocate(kSize);
  void* host = device->allocate_host(kSize);
  device->launch(fill_with(3, host), DeviceLane::host);
  device->wait(DeviceLane::to_device, device->record(DeviceLane::host));
  device->launch(copy_to(memory, host), DeviceLane::to_device);
  device->wait(DeviceLane::compute, device->record(DeviceLane::to_device));
  EXPECT_EQ(values_at(*device, memory), Four({3, 3, 3, 3}));
  device->release_host(host, kSize);
  device->release(memory, kSize);
}

// Memory of the host that a stream may still read is not handed out again.
TEST_F(CudaDevice, KeepsHostMemoryUntilItsLaneIsThere) {
  const auto device = emulation::make_device();
  void* memory = device->allocate(kSize);
  for (int i = 0; i < 20; ++i) {
    void* host = device->allocate_host(kSize);
    const auto value = static_cast<float>(i);
    const Four values = {value, value, value, value};
    device->upload(host, values.data(), kSize);
    device->wait(DeviceLane::to_device, device->record(DeviceLane::compute));
    device->launch(copy_to(memory, host), DeviceLane::to_device);
    device->wait(DeviceLane::compute, device->record(DeviceLane::to_device));
    device->release_host(host, kSize);
    ASSERT_EQ(values_at(*device, memory), values);
  }
  device->release(memory, kSize);
}

TEST_F(CudaDevice, MeasuresFromTheStartOn) {
  const auto device = emulation::make_device();
  EXPECT_EQ(device->mark(DeviceLane::compute), 0U) << "nobody asked for it yet";
  device->start_measuring();
  const DeviceMark begin = device->mark(DeviceLane::compute);
  void* memory = device->allocate(kSize);
  device->launch(fill_with(1, memory), DeviceLane::compute);
  const DeviceMark end = device->mark(DeviceLane::compute);
  const auto began = device->time_of(begin);
  const auto ended = device->time_of(end);
  ASSERT_TRUE(began && ended);
  EXPECT_LE(*began, *ended);
  EXPECT_EQ(device->time_of(0), std::nullopt);
  device->start_measuring();
  EXPECT_EQ(device->time_of(end), std::nullopt) << "forgotten";
  device->release(memory, kSize);
}

/// What happened on a lane follows one another in measured time, and the virtual times are those of the CPU.
TEST_F(CudaDevice, TracesHaveMeasuredTimes) {
  const auto body = [](Rank& rank) {
    Tensor x = support::load(rank, std::vector<float>(64, 1.0F), {8, 8});
    Tensor y = matmul(x, x, nn);
    Work work = rank.world().all_reduce_async(y, ReduceOp::sum);
    Tensor z = gelu(x);
    work.wait();
    add(y, z);
  };
  for (const support::WorldKind& kind : support::world_kinds()) {
    if (std::string(kind.name) != "cuda_emulated") continue;
    const front::RunReport report = support::run_and_compare(kind, support::options_for(3), {2, 50}, body);
    bool begins = false;
    for (const front::RankReport& rank : report.ranks) {
      Nanos last[front::kLanes] = {};
      int measured = 0;
      for (const front::Event& event : rank.trace.events) {
        if (event.measured_begin < Nanos(0)) continue;
        ++measured;
        begins = begins || event.measured_begin == Nanos(0);
        EXPECT_LE(event.measured_begin, event.measured_end);
        Nanos& before = last[static_cast<std::size_t>(event.lane)];
        EXPECT_LE(before, event.measured_begin);
        before = event.measured_end;
      }
      EXPECT_EQ(measured, 4) << "matmul, all_reduce, gelu, add";
    }
    EXPECT_TRUE(begins) << "measured time begins with the first thing that was measured";
  }
}

}  // namespace
}  // namespace shardlings::back::cuda
