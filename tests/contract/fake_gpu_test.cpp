// The fake GPU is as unforgiving as it claims: each of its traps is sprung here once.
#include <gtest/gtest.h>

#include <array>

#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "support/fake_gpu.h"

namespace shardlings::contract {
namespace {

using back::Device;
using back::DeviceLane;
using back::Kernel;
using back::KernelId;
using support::FakeGpus;

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

TEST(FakeGpu, KeepsWhatWasUploaded) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  Four values = {1, 2, 3, 4};
  device->upload(memory, values.data(), kSize);
  values = {};  // may be reused on return
  EXPECT_EQ(values_at(*device, memory), Four({1, 2, 3, 4}));
}

TEST(FakeGpuDeathTest, MemoryIsNotTheHosts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  FakeGpus gpus;
  const auto device = gpus.make_device();
  auto* memory = static_cast<volatile float*>(device->allocate(kSize));
  EXPECT_DEATH(*memory = 1, "");
}

TEST(FakeGpu, LaunchesReturnBeforeTheWorkIsDone) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  gpus.pause();
  device->launch(fill_with(5, memory));
  EXPECT_EQ(gpus.kernels_run(), 0);
  gpus.resume();
  EXPECT_EQ(values_at(*device, memory), Four({5, 5, 5, 5}));
}

TEST(FakeGpu, WaitsForEventsOfOtherDevices) {
  FakeGpus gpus({3, 300});
  const auto one = gpus.make_device();
  const auto two = gpus.make_device();
  void* from = one->allocate(kSize);
  void* to = two->allocate(kSize);
  for (int i = 0; i < 20; ++i) {
    one->launch(fill_with(static_cast<float>(i), from));
    two->wait(DeviceLane::communication, one->record(DeviceLane::compute));
    two->launch(copy_to(to, from), DeviceLane::communication);
    two->wait(DeviceLane::compute, two->record(DeviceLane::communication));
    const auto value = static_cast<float>(i);
    ASSERT_EQ(values_at(*two, to), Four({value, value, value, value}));
  }
  EXPECT_TRUE(gpus.faults().empty());
}

TEST(FakeGpu, ShowsAMissingWait) {
  FakeGpus gpus;
  const auto one = gpus.make_device();
  const auto two = gpus.make_device();
  void* from = one->allocate(kSize);
  void* to = two->allocate(kSize);
  gpus.pause();
  one->wait(DeviceLane::compute, 0);  // nothing to wait for
  two->launch(copy_to(to, from), DeviceLane::communication);
  gpus.resume();
  two->synchronize();
  one->launch(fill_with(1, from));
  two->wait(DeviceLane::compute, two->record(DeviceLane::communication));
  EXPECT_NE(values_at(*two, to)[0], 1.0F) << "what had not been written was copied all the same";
}

TEST(FakeGpu, ReportsUseOfReleasedMemory) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  device->release(memory, kSize);
  EXPECT_NE(device->allocate(kSize), memory) << "an address was given out again";
  device->launch(fill_with(1, memory));
  device->synchronize();
  ASSERT_EQ(gpus.faults().size(), 1U);
  EXPECT_NE(gpus.faults()[0].find("not allocated"), std::string::npos);
}

TEST(FakeGpu, ReleasesWhenItsLaneIsThere) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  gpus.pause();
  device->launch(fill_with(1, memory));
  device->release(memory, kSize);
  EXPECT_EQ(gpus.blocks_alive(), 1);
  gpus.resume();
  device->synchronize();
  EXPECT_EQ(gpus.blocks_alive(), 0);
  EXPECT_TRUE(gpus.faults().empty());
}

TEST(FakeGpu, ReportsHostAddressesInKernels) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  Four host{};
  device->launch(fill_with(1, host.data()));
  device->synchronize();
  EXPECT_EQ(gpus.faults().size(), 1U);
  EXPECT_EQ(host, Four{});
}

TEST(FakeGpu, ReportsAWriteBehindTheEnd) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  const Bytes half = Bytes(kSize.value() / 2);
  void* memory = device->allocate(half);
  device->launch(fill_with(1, memory));
  device->release(memory, half);
  device->synchronize();
  ASSERT_EQ(gpus.faults().size(), 1U);
  EXPECT_NE(gpus.faults()[0].find("behind the end"), std::string::npos);
}

TEST(FakeGpu, CopiesBetweenTheMemories) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  void* host = device->allocate_host(kSize);
  device->launch(fill_with(3, memory));
  device->wait(DeviceLane::to_host, device->record(DeviceLane::compute));
  device->launch(copy_to(host, memory), DeviceLane::to_host);
  device->wait(DeviceLane::compute, device->record(DeviceLane::to_host));
  EXPECT_EQ(values_at(*device, host), Four({3, 3, 3, 3}));
  device->release_host(host, kSize);
  device->release(memory, kSize);
  device->synchronize();
  EXPECT_TRUE(gpus.faults().empty());
  EXPECT_EQ(gpus.blocks_alive(), 0);
}

TEST(FakeGpu, ReportsMixedMemories) {
  FakeGpus gpus;
  const auto device = gpus.make_device();
  void* memory = device->allocate(kSize);
  void* host = device->allocate_host(kSize);
  device->launch(fill_with(1, host));                           // the device cannot write there
  device->launch(fill_with(1, memory), DeviceLane::host);       // nor the host here
  device->launch(copy_to(memory, host), DeviceLane::to_host);   // the other direction (both addresses)
  device->launch(fill_with(1, memory), DeviceLane::to_device);  // not a copy
  device->synchronize();
  EXPECT_EQ(gpus.faults().size(), 5U);
}

TEST(FakeGpu, EventsOutliveTheirDevice) {
  FakeGpus gpus;
  auto one = gpus.make_device();
  const auto two = gpus.make_device();
  void* gone = one->allocate(kSize);
  void* memory = two->allocate(kSize);
  one->launch(fill_with(1, gone));
  const back::DeviceEvent event = one->record(DeviceLane::compute);
  one->release(gone, kSize);
  one.reset();
  two->wait(DeviceLane::compute, event);
  two->wait(DeviceLane::compute, back::DeviceEvent{77} << 40U);  // nobody's: as an event that was never recorded
  two->launch(fill_with(2, memory));
  EXPECT_EQ(values_at(*two, memory), Four({2, 2, 2, 2})) << "what comes after the waits never ran";
  EXPECT_EQ(gpus.kernels_run(), 2);
  EXPECT_TRUE(gpus.faults().empty());
}

}  // namespace
}  // namespace shardlings::contract
