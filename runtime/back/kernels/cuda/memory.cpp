#include "back/kernels/cuda/memory.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "back/kernels/cuda/check.h"
#include "base/mutex.h"

namespace shardlings::back::cuda {
namespace {

/// The pools of all ranks of this process: what one keeps idle, another may need.
struct Pools {
  Mutex lock;
  std::vector<std::pair<int, cudaMemPool_t>> all GUARDED_BY(lock);  ///< with their GPU
};

Pools& pools() {
  static Pools known;
  return known;
}

/// Waits for the GPU, so that what was freed is really free, and takes it out of all its pools.
void trim(int gpu) {
  cudaDeviceSynchronize();
  Pools& known = pools();
  const MutexLock guard(known.lock);
  for (const auto& [of, pool] : known.all) {
    if (of == gpu) cudaMemPoolTrimTo(pool, 0);
  }
}

/// A block's real size: whole pages, so that sizes that differ a little share blocks.
std::size_t rounded(std::size_t size) {
  constexpr std::size_t kPage = 4096;
  if (size > SIZE_MAX - kPage) throw std::bad_alloc();
  return std::max(kPage, (size + kPage - 1) / kPage * kPage);
}

}  // namespace

DevicePool::DevicePool(int gpu) : gpu_(gpu) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = gpu;
  check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
  std::uint64_t keep_all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all), "cudaMemPoolSetAttribute");
  Pools& known = pools();
  const MutexLock guard(known.lock);
  known.all.emplace_back(gpu, pool_);
}

DevicePool::~DevicePool() {
  Pools& known = pools();
  {
    const MutexLock guard(known.lock);
    known.all.erase(std::remove(known.all.begin(), known.all.end(), std::pair(gpu_, pool_)), known.all.end());
  }
  cudaMemPoolDestroy(pool_);
}

void* DevicePool::allocate(std::size_t size, cudaStream_t stream) {
  void* memory = nullptr;
  const std::size_t wanted = std::max<std::size_t>(size, 1);  // every tensor has an address of its own
  if (cudaMallocFromPoolAsync(&memory, wanted, pool_, stream) == cudaSuccess) return memory;
  cudaGetLastError();
  trim(gpu_);
  check(cudaMallocFromPoolAsync(&memory, wanted, pool_, stream), "cudaMallocFromPoolAsync");
  return memory;
}

void DevicePool::release(void* memory, cudaStream_t stream) noexcept {
  if (memory != nullptr) cudaFreeAsync(memory, stream);
}

PinnedMemory::~PinnedMemory() {
  for (const Block& block : blocks_) give_back(block);
}

void PinnedMemory::give_back(const Block& block) noexcept {
  cudaEventSynchronize(block.released);
  cudaEventDestroy(block.released);
  cudaFreeHost(block.memory);
}

void* PinnedMemory::allocate(std::size_t size) {
  const std::size_t wanted = rounded(size);
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    if (block->size != wanted || cudaEventQuery(block->released) != cudaSuccess) continue;
    void* memory = block->memory;
    cudaEventDestroy(block->released);
    idle_ -= block->size;
    blocks_.erase(block);
    return memory;
  }
  cudaGetLastError();  // "not ready" is no error
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, wanted, cudaHostAllocPortable), "cudaHostAlloc");
  return memory;
}

void PinnedMemory::release(void* memory, std::size_t size, cudaStream_t stream) noexcept {
  if (memory == nullptr) return;
  Block block{memory, rounded(size), nullptr};
  if (cudaEventCreateWithFlags(&block.released, cudaEventDisableTiming) != cudaSuccess) return;  // the GPU is lost
  cudaEventRecord(block.released, stream);
  blocks_.push_back(block);
  idle_ += block.size;
  while (idle_ > kMostIdle) {
    give_back(blocks_.front());
    idle_ -= blocks_.front().size;
    blocks_.pop_front();
  }
}

}  // namespace shardlings::back::cuda
