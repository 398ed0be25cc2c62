// A device without memory or arithmetic: for runs whose counters and clock are wanted, and no numbers. Addresses are
// told apart and never used.
#include <algorithm>
#include <cstring>

#include "back/kernels/kernels.h"

namespace shardlings::back {
namespace {

class DryDevice final : public Device {
 public:
  bool computes() const override { return false; }

  void* allocate(Bytes size) override { return address(size); }
  void release(void*, Bytes) noexcept override {}
  void* allocate_host(Bytes size) override { return address(size); }
  void release_host(void*, Bytes) noexcept override {}

  void launch(const Kernel&, DeviceLane) override {}
  void upload(void*, const void*, Bytes) override {}
  void download(void* host, const void*, Bytes size) override {
    std::memset(host, 0, static_cast<std::size_t>(size.value()));
  }

  DeviceEvent record(DeviceLane) override { return 0; }
  void wait(DeviceLane, DeviceEvent) override {}
  void synchronize() override {}

 private:
  /// Never given twice, so that no two storages look like one. A run of a step goes through some terabytes of them.
  void* address(Bytes size) {
    constexpr std::uintptr_t kAlignment = 64;
    const std::uintptr_t given = next_;
    const auto bytes = static_cast<std::uintptr_t>(std::max<std::int64_t>(size.value(), 1));
    next_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<void*>(given);  // NOLINT(performance-no-int-to-ptr)
  }

  std::uintptr_t next_ = std::uintptr_t{1} << 20U;  // anything but null
};

}  // namespace

std::unique_ptr<Device> make_dry_device() {
  return std::make_unique<DryDevice>();
}

}  // namespace shardlings::back
