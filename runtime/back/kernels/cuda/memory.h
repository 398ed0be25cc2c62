/// \file
/// The memories of a device: a pool of the GPU's, ordered by a stream, and the host's that the GPU can reach.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <list>

namespace shardlings::back::cuda {

/// Memory of the GPU. Freed blocks stay in the pool, so that steps in a steady state never ask the driver.
class DevicePool {
 public:
  explicit DevicePool(int gpu);
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  cudaMemPool_t pool() const { return pool_; }
  /// Throws std::bad_alloc once not even other pools of this process on this GPU can give anything back.
  void* allocate(std::size_t size, cudaStream_t stream);
  static void release(void* memory, cudaStream_t stream) noexcept;

 private:
  int gpu_;
  cudaMemPool_t pool_ = nullptr;
};

/// Pinned memory of the host. Pinning takes milliseconds, and unpinning waits for the whole GPU: blocks are kept, and
/// handed out again once the stream that released them has got there.
class PinnedMemory {
 public:
  /// Beyond so many idle bytes, blocks are given back to the system.
  static constexpr std::size_t kMostIdle = std::size_t{1} << 30;

  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  /// Throws std::bad_alloc.
  void* allocate(std::size_t size);
  /// `size` as given to allocate().
  void release(void* memory, std::size_t size, cudaStream_t stream) noexcept;
  std::size_t idle() const { return idle_; }

 private:
  struct Block {
    void* memory = nullptr;
    std::size_t size = 0;
    cudaEvent_t released = nullptr;
  };
  void give_back(const Block& block) noexcept;

  std::list<Block> blocks_;  ///< idle ones, oldest first
  std::size_t idle_ = 0;
};

}  // namespace shardlings::back::cuda
