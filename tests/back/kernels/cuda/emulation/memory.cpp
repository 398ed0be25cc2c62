// Both memories of the emulated runtime, and copies between them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "back/kernels/cuda/emulation/emulation.h"
#include "back/kernels/cuda/emulation/streams.h"

struct CUmemPoolHandle_st {};

namespace shardlings::emulation {
namespace {

constexpr std::size_t kGuard = 256;  // behind a block, to see who writes there
constexpr int kPoison = 0xFF;        // reads as NaN

/// Blocks by address. Fresh ones, and those that were freed, read as NaN.
struct Heap {
  std::mutex lock;
  std::map<std::byte*, std::size_t> blocks;
  std::vector<std::string> faults;
  int refuse = 0;

  void* allocate(std::size_t size) {
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(512, (size + kGuard + 511) / 512 * 512));
    std::memset(memory, kPoison, size + kGuard);
    const std::lock_guard guard(lock);
    blocks[memory] = size;
    return memory;
  }

  void release(void* address) {
    auto* memory = static_cast<std::byte*>(address);
    const std::lock_guard guard(lock);
    const auto found = blocks.find(memory);
    if (found == blocks.end()) {
      faults.emplace_back("memory was freed that is not allocated");
      return;
    }
    const bool clean = std::all_of(memory + found->second, memory + found->second + kGuard,
                                   [](std::byte b) { return b == std::byte{kPoison}; });
    if (!clean) faults.emplace_back("somebody wrote behind the end of a block");
    std::memset(memory, kPoison, found->second);
    std::free(memory);
    blocks.erase(found);
  }

  /// Whether these bytes lie in a block.
  bool holds(const void* address, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(address);
    const std::lock_guard guard(lock);
    auto next = blocks.upper_bound(const_cast<std::byte*>(first));
    if (next == blocks.begin()) return false;
    --next;
    return first + size <= next->first + next->second;
  }
};

Heap& heap() {
  static Heap of_all;
  return of_all;
}

}  // namespace

std::int64_t blocks_alive() {
  const std::lock_guard guard(heap().lock);
  return static_cast<std::int64_t>(heap().blocks.size());
}

std::vector<std::string> take_faults() {
  const std::lock_guard guard(heap().lock);
  return std::exchange(heap().faults, {});
}

void refuse_allocations(int count) {
  const std::lock_guard guard(heap().lock);
  heap().refuse = count;
}

}  // namespace shardlings::emulation

using shardlings::emulation::enqueue;
using shardlings::emulation::heap;

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = new CUmemPoolHandle_st;
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return cudaSuccess;
}

// An address at once; a use in another stream's order has to wait for this one.
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t size, cudaMemPool_t, cudaStream_t) {
  {
    const std::lock_guard guard(heap().lock);
    if (heap().refuse > 0) return --heap().refuse, cudaErrorMemoryAllocation;
  }
  if (size == 0) return cudaErrorInvalidValue;
  *memory = heap().allocate(size);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  enqueue(stream, [memory] { heap().release(memory); });
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  *memory = heap().allocate(size);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  cudaDeviceSynchronize();
  heap().release(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t stream) {
  if (heap().holds(from, size)) {
    enqueue(stream, [to, from, size] { std::memcpy(to, from, size); });
    return cudaSuccess;
  }
  // Pageable memory is read before the call returns.
  const auto* first = static_cast<const std::byte*>(from);
  enqueue(stream,
          [to, data = std::vector<std::byte>(first, first + size)] { std::memcpy(to, data.data(), data.size()); });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  enqueue(stream, [to, value, size] { std::memset(to, value, size); });
  return cudaSuccess;
}
