#include <cstring>

#include "back/kernels/cpu/allocator.h"
#include "back/kernels/cpu/blas.h"
#include "back/kernels/cpu/table.h"
#include "back/kernels/kernels.h"

namespace shardlings::back {
namespace cpu {
namespace {

KernelTable make_table() {
  KernelTable table;
  add_copy_kernels(table);
  add_elementwise_kernels(table);
  add_activation_kernels(table);
  add_matmul_kernels(table);
  add_row_kernels(table);
  add_column_kernels(table);
  add_norm_kernels(table);
  add_attention_kernels(table);
  add_partial_attention_kernels(table);
  add_embedding_kernels(table);
  add_loss_kernels(table);
  add_optimizer_kernels(table);
  add_random_kernels(table);
  add_reduce_kernels(table);
  add_scaled_kernels(table);
  return table;
}

/// Device memory is the host's; a kernel is done when launch() returns, so there is nothing to wait for.
class CpuDevice final : public Device {
 public:
  void* allocate(Bytes size) override { return allocator_.allocate(static_cast<std::size_t>(size.value())); }
  void release(void* memory, Bytes size) noexcept override {
    allocator_.release(memory, static_cast<std::size_t>(size.value()));
  }

  void* allocate_host(Bytes size) override { return allocate(size); }
  void release_host(void* memory, Bytes size) noexcept override { release(memory, size); }

  void launch(const Kernel& kernel, DeviceLane) override { kernel_table()[kernel.id](kernel, workspace_); }

  void upload(void* to, const void* host, Bytes size) override { move(to, host, size); }
  void download(void* host, const void* from, Bytes size) override { move(host, from, size); }

  DeviceEvent record(DeviceLane) override { return 0; }
  void wait(DeviceLane, DeviceEvent) override {}
  void synchronize() override {}

 private:
  static void move(void* to, const void* from, Bytes size) {
    if (size.value() > 0) std::memmove(to, from, static_cast<std::size_t>(size.value()));
  }

  CachingAllocator allocator_;
  Workspace workspace_;
  ProductUser multiplies_;
};

}  // namespace

const KernelTable& kernel_table() {
  static const KernelTable table = make_table();
  return table;
}

}  // namespace cpu

std::unique_ptr<Device> make_cpu_device() {
  return std::make_unique<cpu::CpuDevice>();
}

}  // namespace shardlings::back
