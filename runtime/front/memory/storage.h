/// \file
/// The storages of one rank: what a Tensor's id stands for.
#pragma once

#include <cstdint>
#include <forward_list>
#include <string>
#include <vector>

#include "api/call.h"
#include "base/dtype.h"
#include "front/trace/event.h"
#include "front/trace/memory_use.h"

namespace shardlings::front {

/// A stretch of a storage that an unfinished operation reads or writes.
struct InFlight {
  Range range;
  bool writes = false;
  std::uint64_t work = 0;
  const char* operation = "";
  Location at;
};

/// One allocation. Its parts are so ordered that no byte is lost between them: a rank has hundreds.
struct Storage {
  std::uint32_t generation = 0;
  bool alive : 1 = false;
  bool dropped : 1 = false;  ///< its tensor is gone, but an operation in flight still pins the memory
  DType dtype = DType::f32;
  Kind kind = Kind::other;
  Memory memory = Memory::device;
  Label label;
  void* data = nullptr;
  Count count = 0;
  Bytes weight;                           ///< as it is counted: other than bytes() in mixed precision
  Location at;                            ///< where it was allocated
  std::forward_list<InFlight> in_flight;  ///< the oldest first; nearly always none: so a list, which is a pointer then

  Bytes bytes() const { return bytes_of(count, dtype); }
  void mark(const InFlight& newest);
};
static_assert(sizeof(Storage) == 64);

/// Slots with generations: a stale id is noticed, whatever has taken its place.
class StorageTable {
 public:
  StorageTable();
  /// Takes a slot for a storage that is alive, and of which nothing else is known: at() has all but its generation to
  /// be filled in. Returns its index (never 0).
  std::uint32_t take();
  void erase(std::uint32_t index);
  /// nullptr if the id is stale or was never given out.
  Storage* find(std::uint32_t index, std::uint32_t generation) {
    if (index == 0 || index >= slots_.size()) return nullptr;
    Storage& slot = slots_[index];
    return slot.alive && slot.generation == generation ? &slot : nullptr;
  }
  Storage& at(std::uint32_t index) { return slots_[index]; }
  /// All that are alive, in the order of their slots.
  std::vector<const Storage*> alive() const;

 private:
  std::vector<Storage> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace shardlings::front
