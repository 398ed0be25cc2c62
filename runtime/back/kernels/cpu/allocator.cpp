#include "back/kernels/cpu/allocator.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/sanitizers.h"

namespace shardlings::back::cpu {
namespace {

// AddressSanitizer can only see the use of freed memory if it is really freed.
constexpr bool kCaches = !kAddressSanitizer;

std::size_t rounded(std::size_t size) {
  constexpr std::size_t kMask = CachingAllocator::kAlignment - 1;
  if (size > SIZE_MAX - kMask) throw std::bad_alloc();
  return size == 0 ? CachingAllocator::kAlignment : (size + kMask) & ~kMask;
}

}  // namespace

CachingAllocator::~CachingAllocator() {
  trim();
}

void* CachingAllocator::allocate(std::size_t size) {
  const std::size_t block = rounded(size);
  if (const auto found = blocks_.find(block); found != blocks_.end() && !found->second.empty()) {
    void* memory = found->second.back();
    found->second.pop_back();
    idle_ -= block;
    return memory;
  }
  void* memory = std::aligned_alloc(kAlignment, block);
  if (memory == nullptr) {
    trim();
    memory = std::aligned_alloc(kAlignment, block);
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void CachingAllocator::release(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return;
  const std::size_t block = rounded(size);
  if (!kCaches || idle_ + block > kMostIdle) {
    std::free(memory);
    return;
  }
  try {
    blocks_[block].push_back(memory);
    idle_ += block;
  } catch (const std::bad_alloc&) {
    std::free(memory);
  }
}

void CachingAllocator::trim() noexcept {
  for (auto& [size, blocks] : blocks_) {
    for (void* memory : blocks) std::free(memory);
  }
  blocks_.clear();
  idle_ = 0;
}

}  // namespace shardlings::back::cpu
