#include "back/kernels/cuda/device.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <stdexcept>

#include "back/kernels/cuda/blas.h"
#include "back/kernels/cuda/check.h"
#include "back/kernels/cuda/clock.h"
#include "back/kernels/cuda/lane.h"
#include "back/kernels/cuda/memory.h"
#include "back/kernels/cuda/table.h"

namespace shardlings::back::cuda {
namespace {

/// CUDA's calls are about the GPU that the calling thread has chosen.
int chosen(int gpu) {
  check(cudaSetDevice(gpu), "cudaSetDevice");
  return gpu;
}

std::size_t size_of(Bytes bytes) {
  return static_cast<std::size_t>(bytes.value());
}

/// A computation of the host's processor, between other work of a stream.
struct HostTask {
  Device& host;
  std::atomic<bool>& failed;
  Kernel kernel;
};

void CUDART_CB run_on_host(void* data) {
  const std::unique_ptr<HostTask> task(static_cast<HostTask*>(data));
  try {
    task->host.launch(task->kernel);
  } catch (const std::exception&) {
    task->failed = true;
  }
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int gpu, std::unique_ptr<Device> host)
      : gpu_(chosen(gpu)), host_(std::move(host)), pool_(gpu), clock_(gpu), blas_(stream(DeviceLane::compute)) {}

  ~CudaDevice() override { cudaSetDevice(gpu_); }

  void* allocate(Bytes size) override {
    chosen(gpu_);
    return pool_.allocate(size_of(size), stream(DeviceLane::compute));
  }
  void release(void* memory, Bytes) noexcept override {
    cudaSetDevice(gpu_);
    DevicePool::release(memory, stream(DeviceLane::compute));
  }
  void* allocate_host(Bytes size) override {
    chosen(gpu_);
    return pinned_.allocate(size_of(size));
  }
  void release_host(void* memory, Bytes size) noexcept override {
    cudaSetDevice(gpu_);
    pinned_.release(memory, size_of(size), stream(DeviceLane::compute));
  }

  void launch(const Kernel& kernel, DeviceLane on) override {
    chosen(gpu_);
    if (on == DeviceLane::host) return launch_on_host(kernel);
    const LaneContext context{stream(on), pool_.pool(), on == DeviceLane::compute ? &blas_ : nullptr};
    kernel_table()[kernel.id](kernel, context);
  }

  void upload(void* to, const void* host, Bytes size) override { move(to, host, size); }
  void download(void* host, const void* from, Bytes size) override {
    move(host, from, size);
    check(cudaStreamSynchronize(stream(DeviceLane::compute)), "cudaStreamSynchronize");
    check_host();
  }

  DeviceEvent record(DeviceLane on) override {
    chosen(gpu_);
    return lane(on).record();
  }
  void wait(DeviceLane on, DeviceEvent event) override {
    chosen(gpu_);
    lane(on).wait(event);
  }
  void synchronize() override {
    chosen(gpu_);
    for (const Lane& lane : lanes_) check(cudaStreamSynchronize(lane.stream()), "cudaStreamSynchronize");
    check_host();
  }

  void start_measuring() override {
    chosen(gpu_);
    clock_.start(stream(DeviceLane::compute));
  }
  DeviceMark mark_queue(void* queue) override {
    chosen(gpu_);
    return clock_.mark(static_cast<cudaStream_t>(queue));
  }
  std::optional<Nanos> time_of(DeviceMark mark) override { return clock_.time_of(mark); }

  NativeLane native(DeviceLane on) const override { return {gpu_, stream(on)}; }

 private:
  Lane& lane(DeviceLane on) { return lanes_[static_cast<std::size_t>(on)]; }
  cudaStream_t stream(DeviceLane on) const { return lanes_[static_cast<std::size_t>(on)].stream(); }

  void move(void* to, const void* from, Bytes size) {
    chosen(gpu_);
    if (size.value() == 0) return;
    check(cudaMemcpyAsync(to, from, size_of(size), cudaMemcpyDefault, stream(DeviceLane::compute)), "cudaMemcpyAsync");
  }

  void launch_on_host(const Kernel& kernel) {
    auto task = std::make_unique<HostTask>(HostTask{*host_, host_failed_, kernel});
    check(cudaLaunchHostFunc(stream(DeviceLane::host), run_on_host, task.get()), "cudaLaunchHostFunc");
    static_cast<void>(task.release());  // run_on_host has it
  }

  void check_host() const {
    if (host_failed_) throw std::runtime_error("a computation of the host's processor failed");
  }

  // In this order: work that is still under way uses what comes before its lane.
  int gpu_;
  std::unique_ptr<Device> host_;
  std::atomic<bool> host_failed_{false};
  DevicePool pool_;
  PinnedMemory pinned_;
  Clock clock_;
  // Work that others wait for comes first.
  std::array<Lane, kDeviceLanes> lanes_{Lane(false), Lane(true), Lane(true), Lane(true), Lane(true)};
  Blas blas_;
};

}  // namespace

std::unique_ptr<Device> make_device(int gpu, std::unique_ptr<Device> host) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (gpu < 0 || gpu >= count) {
    throw std::runtime_error(fmt::format("there is no GPU {}: this machine has {}, numbered from 0", gpu, count));
  }
  return std::make_unique<CudaDevice>(gpu, std::move(host));
}

}  // namespace shardlings::back::cuda
