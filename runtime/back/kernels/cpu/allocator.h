/// \file
/// Memory of a CPU device: freed blocks are kept and handed out again, so that steady-state steps meet no page faults.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace shardlings::back::cpu {

class CachingAllocator {
 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector
  /// Beyond so many idle bytes, blocks are given back to the system.
  static constexpr std::size_t kMostIdle = std::size_t{1} << 30;

  CachingAllocator() = default;
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Throws std::bad_alloc.
  void* allocate(std::size_t size);
  /// `size` as given to allocate().
  void release(void* memory, std::size_t size) noexcept;
  std::size_t idle() const { return idle_; }

 private:
  void trim() noexcept;

  std::unordered_map<std::size_t, std::vector<void*>> blocks_;  // idle ones by exact size
  std::size_t idle_ = 0;
};

}  // namespace shardlings::back::cpu
