/// \file
/// The address space of fake GPUs: addresses that the test's process cannot use, and what they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace shardlings::support {

class FakeMemory {
 public:
  /// Addresses begin here; of several memories each has its own.
  explicit FakeMemory(std::uint64_t first) : next_(first) {}
  /// No processor in use maps addresses with these bits: x86-64 faults on them, and so does AArch64.
  static constexpr std::uint64_t kDevice = std::uint64_t{1} << 52U;
  static constexpr std::uint64_t kHost = std::uint64_t{1} << 53U;

  /// Real memory of an allocation. Shared with the kernels that run on it.
  struct Block {
    explicit Block(std::size_t bytes);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    bool written_behind() const;
    std::byte* data;
    std::size_t size;
  };
  /// A translated address, good as long as `block` is held.
  struct Place {
    std::shared_ptr<Block> block;
    std::byte* address = nullptr;
    /// Whether so many bytes from there on are allocated.
    bool has(std::size_t bytes) const {
      return block && bytes <= block->size - static_cast<std::size_t>(address - block->data);
    }
  };

  /// Filled with bytes that read as NaN. The address is a multiple of 64 and never given out again.
  void* allocate(std::size_t size);
  /// Forgets the block that begins here, and destroys what is in it. Returns what is wrong with it, nothing if all is
  /// well: no such block, or somebody wrote behind its end.
  const char* release(void* address);
  /// No block if the address is not inside an allocation (or at its end, for operands of no elements).
  Place find(const void* address) const;
  std::int64_t alive() const;

 private:
  static constexpr std::uint64_t kGap = 256;

  mutable std::mutex lock_;
  std::map<std::uint64_t, std::shared_ptr<Block>> blocks_;
  std::uint64_t next_;
};

}  // namespace shardlings::support
