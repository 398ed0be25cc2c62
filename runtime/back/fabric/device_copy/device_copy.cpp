/// \file
/// Collectives between devices of one kind that read one another's memory, on their communication lanes.
///
/// The host never waits: everything is ordered by events. An operation's kernels start when all members' compute lanes
/// have reached their posts, and a member's compute lane goes on after finish() only when everybody's kernels are done,
/// since they may have read or written that member's memory. A wait names only events that were recorded before it, so
/// lanes cannot wait for one another in a circle, even if several threads launch operations at once. They do: the
/// rank that posts last launches for all members, so a device's launch(), record() and wait() bear calls from any
/// thread.
#include <vector>

#include "back/fabric/device_copy/device_schedule.h"
#include "back/fabric/fabric.h"

namespace shardlings::back {
namespace {

class DeviceCopyExchange final : public Exchange {
 public:
  void begin(int members) override {
    const auto size = static_cast<std::size_t>(members);
    buffers_.assign(size, {});
    scratch_.assign(size, {});
    events_.assign(size, 0);
    marks_.assign(size, {});
    done_ = 0;
  }

  DataHandle post(int member, const Signature& signature, const Buffers& buffers) override {
    const auto i = static_cast<std::size_t>(member);
    buffers_[i] = buffers;
    if (signature.kind == Collective::barrier || signature.kind == Collective::split) return 0;
    // Allocated here rather than at the launch, so that the event below covers it: memory is ordered by compute lanes.
    const Bytes scratch = scratch_size(signature, member);
    if (scratch > Bytes(0)) scratch_[i] = {buffers.device->allocate(scratch), scratch};
    events_[i] = buffers.device->record(DeviceLane::compute);
    return 0;
  }

  bool launch(const Signature& signature, std::span<const DataHandle>) override {
    const DeviceSchedule schedule = make_device_schedule(signature, buffers_, scratch_addresses());
    for (const auto& kernels : schedule.of_member) {
      if (kernels.empty()) continue;
      const DeviceEvent all_ready = join();
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        Device& device = *buffers_[i].device;
        device.wait(DeviceLane::communication, all_ready);
        if (marks_[i].begin == 0) marks_[i].begin = device.mark(DeviceLane::communication);
        for (const Kernel& kernel : kernels[i]) device.launch(kernel, DeviceLane::communication);
        marks_[i].end = device.mark(DeviceLane::communication);
        events_[i] = device.record(DeviceLane::communication);
      }
      done_ = join();
    }
    return true;
  }

  HelpResult help(int) override { return HelpResult::none_left; }

  void finish(int member) override {
    const auto i = static_cast<std::size_t>(member);
    Device& device = *buffers_[i].device;
    if (done_ != 0) device.wait(DeviceLane::compute, done_);
    release_scratch(i);
  }

  void revoke(int member) override { release_scratch(static_cast<std::size_t>(member)); }

  Marks marks(int member) override { return marks_[static_cast<std::size_t>(member)]; }

 private:
  /// Memory for partial results. A member that never finishes, since the run has failed, leaves it to its device.
  struct Scratch {
    void* memory = nullptr;
    Bytes size;
  };

  void release_scratch(std::size_t i) {
    if (scratch_[i].memory) buffers_[i].device->release(scratch_[i].memory, scratch_[i].size);
    scratch_[i] = {};
  }

  std::vector<void*> scratch_addresses() const {
    std::vector<void*> addresses;
    for (const Scratch& scratch : scratch_) addresses.push_back(scratch.memory);
    return addresses;
  }

  /// One event for all members' events: N waits and N more on the result, instead of N * N. The lane that joins them
  /// is one that takes part in the operation and cannot go on without the others anyway.
  DeviceEvent join() {
    Device& hub = *buffers_.front().device;
    for (const DeviceEvent event : events_) hub.wait(DeviceLane::communication, event);
    return hub.record(DeviceLane::communication);
  }

  std::vector<Buffers> buffers_;
  std::vector<Scratch> scratch_;
  std::vector<DeviceEvent> events_;  ///< the end of each member's part so far
  std::vector<Marks> marks_;
  DeviceEvent done_ = 0;  ///< 0: nothing had to be moved
};

class DeviceCopyFabric final : public Fabric {
 public:
  std::unique_ptr<Exchange> make_exchange() override { return std::make_unique<DeviceCopyExchange>(); }
  /// Nothing to do: no rank ever waits here.
  void abort() noexcept override {}
};

}  // namespace

std::unique_ptr<Fabric> make_device_copy_fabric() {
  return std::make_unique<DeviceCopyFabric>();
}

}  // namespace shardlings::back
