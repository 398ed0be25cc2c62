#include "front/memory/storage.h"

namespace shardlings::front {

StorageTable::StorageTable() : slots_(1) {}  // slot 0 is "nothing"

std::uint32_t StorageTable::take() {
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Storage& slot = slots_[index];
  ++slot.generation;
  slot.alive = true;
  slot.dropped = false;
  slot.label = {};
  return index;
}

void StorageTable::erase(std::uint32_t index) {
  Storage& slot = slots_[index];
  slot.alive = false;
  slot.data = nullptr;
  slot.in_flight.clear();
  free_.push_back(index);
}

std::vector<const Storage*> StorageTable::alive() const {
  std::vector<const Storage*> result;
  for (const Storage& slot : slots_) {
    if (slot.alive) result.push_back(&slot);
  }
  return result;
}

}  // namespace shardlings::front
