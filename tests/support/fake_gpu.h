/// \file
/// Devices that behave like GPUs as far as the host can tell, to prove that the front works with real ones.
///
/// Each lane is a thread that executes what was launched, in order and later, with the CPU's kernels. Device addresses
/// lie where no memory can be: a host access faults; only kernels and copies translate them. Addresses of the host's
/// memory are of another such kind, which only the lanes for it understand: mixing the two is reported. Events
/// are as in CUDA. Freed memory is gone when the compute lane reaches the release, its addresses are never given out
/// again, and whatever still uses them is reported. Random delays before kernels bring missing waits to light.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "back/kernels/kernels.h"

namespace shardlings::support {

struct FakeGpuOptions {
  std::uint64_t seed = 0;
  int max_delay_us = 0;  ///< before some kernels; 0: none
};

/// Devices that can reach one another's memory.
class FakeGpus {
 public:
  explicit FakeGpus(const FakeGpuOptions& options = {});
  ~FakeGpus();
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  /// One more device. It keeps what it shares with the others alive.
  std::unique_ptr<back::Device> make_device();

  /// What lies at an address of any device's memory; false if it is not allocated to that end. For what stands in for
  /// the vendor's other libraries: it runs on a FakeLane, of which Device::native() gives each device's own.
  bool read(const void* address, std::span<std::byte> to) const;
  bool write(void* address, std::span<const std::byte> from);

  /// Lanes do nothing between these two: what the host does meanwhile it does without the devices.
  void pause();
  void resume();

  /// What would have been an illegal memory access on a GPU, in words.
  std::vector<std::string> faults() const;
  std::int64_t kernels_run() const;
  /// Allocations of all devices, in both memories, that nobody has released.
  std::int64_t blocks_alive() const;

  struct System;

 private:
  std::shared_ptr<System> system_;
};

}  // namespace shardlings::support
