#include "support/fake_gpu_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace shardlings::support {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kGarbage = 0xFF;  // four of them are a NaN

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

}  // namespace

FakeMemory::Block::Block(std::size_t bytes)
    : data(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t(kAlignment)))),
      size(bytes) {
  std::memset(data, kGarbage, size);
}

FakeMemory::Block::~Block() {
  ::operator delete(data, std::align_val_t(kAlignment));
}

void* FakeMemory::allocate(std::size_t size) {
  auto block = std::make_shared<Block>(size);
  const std::lock_guard guard(lock_);
  const std::uint64_t address = next_;
  next_ += (size / kAlignment + 1) * kAlignment + kGap;
  blocks_.emplace(address, std::move(block));
  return reinterpret_cast<void*>(address);
}

bool FakeMemory::release(void* address) {
  std::shared_ptr<Block> block;
  {
    const std::lock_guard guard(lock_);
    const auto found = blocks_.find(number(address));
    if (found == blocks_.end()) return false;
    block = std::move(found->second);
    blocks_.erase(found);
  }
  std::memset(block->data, kGarbage, block->size);
  return true;
}

FakeMemory::Place FakeMemory::find(const void* address) const {
  const std::lock_guard guard(lock_);
  const auto after = blocks_.upper_bound(number(address));
  if (after == blocks_.begin()) return {};
  const auto& [begin, block] = *std::prev(after);
  const std::uint64_t offset = number(address) - begin;
  if (offset > block->size) return {};
  return {block, block->data + offset};
}

std::int64_t FakeMemory::alive() const {
  const std::lock_guard guard(lock_);
  return static_cast<std::int64_t>(blocks_.size());
}

}  // namespace shardlings::support
