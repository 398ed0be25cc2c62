/// \file
/// What a rank's device must do: hold memory and compute. Implementations: cpu, cuda. None of them counts.
///
/// All work of a lane runs in the order it was launched. Launches may return before the work is done; a caller that
/// needs the result on the host calls download(), which waits.
///
/// The rank that owns a device allocates, releases, uploads and downloads. launch(), record() and wait() are called
/// from any thread: whichever rank comes last to an operation launches its parts for all members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/units.h"
#include "shardlings/tensor.h"

namespace shardlings::back {

/// The in-order queues of a device. `to_host` and `to_device` run the kernel `copy` only, between the two memories;
/// `host` runs kernels on the host's memory, by the host's processor; the others run kernels on the device's memory.
enum class DeviceLane : std::uint8_t { compute, communication, to_host, to_device, host };
inline constexpr int kDeviceLanes = 5;

/// A point in a lane's work. Its meaning is the device's; 0 is "nothing to wait for".
using DeviceEvent = std::uint64_t;

/// A moment in a lane's work whose time will be asked for; 0: it is not measured.
using DeviceMark = std::uint64_t;

/// Where an operation begins and ends on a lane.
struct Marks {
  DeviceMark begin = 0;
  DeviceMark end = 0;
};

/// A lane as the vendor's libraries know it. CUDA: the number of the GPU and a cudaStream_t.
struct NativeLane {
  int device = -1;
  void* queue = nullptr;
};

/// Which computation. The arguments of each stand beside its name in kernel_ids.h.
enum class KernelId : std::uint16_t;

/// One computation: addresses in device memory, extents and factors. Plain data, so that it can be queued.
struct Kernel {
  static constexpr int kOutputs = 4;
  static constexpr int kInputs = 8;
  static constexpr int kNumbers = 8;
  static constexpr int kScalars = 6;
  KernelId id{};
  DType dtype = DType::f32;
  void* out[kOutputs] = {};
  const void* in[kInputs] = {};
  Count n[kNumbers] = {};
  float f[kScalars] = {};
};

class Device {
 public:
  virtual ~Device() = default;

  /// False: there is neither memory nor arithmetic behind it, addresses are names, and what is downloaded is zero.
  virtual bool computes() const { return true; }

  /// At least `size` bytes, aligned to 64. Throws std::bad_alloc.
  virtual void* allocate(Bytes size) = 0;
  /// Ordered after all work launched so far on the compute lane.
  virtual void release(void* memory, Bytes size) noexcept = 0;
  /// The same for memory of the host that copies can reach (on GPUs: pinned).
  virtual void* allocate_host(Bytes size) = 0;
  virtual void release_host(void* memory, Bytes size) noexcept = 0;

  virtual void launch(const Kernel& kernel, DeviceLane lane = DeviceLane::compute) = 0;
  /// Copies from the host's stack or heap to either memory; the source may be reused on return.
  virtual void upload(void* to, const void* host, Bytes size) = 0;
  /// Waits for the compute lane, then copies from either memory to the host's stack or heap.
  virtual void download(void* host, const void* from, Bytes size) = 0;

  /// The present end of a lane, and: let a lane go on only after an event of any device of the same kind.
  virtual DeviceEvent record(DeviceLane lane) = 0;
  virtual void wait(DeviceLane lane, DeviceEvent event) = 0;
  /// Blocks the host until all lanes are idle.
  virtual void synchronize() = 0;

  /// \name Measured time: what a lane's work really took. Devices without a clock of their own leave these as they are.
  /// @{
  /// Forgets all marks. Before the first call nothing is measured.
  virtual void start_measuring() {}
  /// The present end of a lane, as a moment to be measured. Called from any thread.
  DeviceMark mark(DeviceLane lane) { return mark_queue(native(lane).queue); }
  /// The same for any queue of the device's GPU.
  virtual DeviceMark mark_queue(void* /*queue*/) { return 0; }
  /// When the lane got there, by the host's steady clock. Blocks until all lanes are idle.
  virtual std::optional<Nanos> time_of(DeviceMark) { return std::nullopt; }
  /// @}

  /// For fabrics whose library enqueues work by itself. `queue` is null if the device has none.
  virtual NativeLane native(DeviceLane) const { return {}; }
};

/// A device whose memory is the host's and whose kernels are done when launch() returns.
std::unique_ptr<Device> make_cpu_device();
/// A device that computes nothing (see computes()).
std::unique_ptr<Device> make_dry_device();

}  // namespace shardlings::back
