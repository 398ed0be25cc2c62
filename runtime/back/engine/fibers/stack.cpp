#include "back/engine/fibers/stack.h"

#include <sys/mman.h>

#include <new>

namespace shardlings::back {
namespace {

// Of addresses. A rank of the deepest puzzle touches 12 KiB, and an all_reduce has an array of 32 KiB besides; text is
// formatted, and sanitizers run, on the same stack.
constexpr std::size_t kSize = std::size_t{1} << 20U;
constexpr std::size_t kGuard = 4096;

}  // namespace

Stack::Stack()
    : mapping_(mmap(nullptr, kGuard + kSize, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(mapping_, kGuard, PROT_NONE) != 0) {
    munmap(mapping_, kGuard + kSize);
    throw std::bad_alloc();
  }
}

Stack::~Stack() {
  munmap(mapping_, kGuard + kSize);
}

void* Stack::bottom() const {
  return static_cast<std::byte*>(mapping_) + kGuard;
}

std::size_t Stack::size() const {
  return kSize;
}

}  // namespace shardlings::back
