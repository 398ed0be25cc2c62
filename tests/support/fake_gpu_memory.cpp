#include "support/fake_gpu_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace shardlings::support {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr unsigned char kGarbage = 0xFF;  // four of them are a NaN
constexpr std::size_t kGuard = 128;       // bytes behind every block that nobody may change

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

}  // namespace

FakeMemory::Block::Block(std::size_t bytes)
    : data(static_cast<std::byte*>(::operator new(bytes + kGuard, std::align_val_t(kAlignment)))), size(bytes) {
  std::memset(data, kGarbage, size + kGuard);
}

bool FakeMemory::Block::written_behind() const {
  return std::any_of(data + size, data + size + kGuard, [](std::byte b) { return b != std::byte{kGarbage}; });
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

const char* FakeMemory::release(void* address) {
  std::shared_ptr<Block> block;
  {
    const std::lock_guard guard(lock_);
    const auto found = blocks_.find(number(address));
    if (found == blocks_.end()) return "release of memory that is not allocated";
    block = std::move(found->second);
    blocks_.erase(found);
  }
  std::memset(block->data, kGarbage, block->size);
  return block->written_behind() ? "somebody wrote behind the end of an allocation" : nullptr;
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
