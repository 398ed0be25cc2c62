#include "front/memory/storage.h"

#include "base/make_room.h"

namespace shardlings::front {

void Storage::mark(const InFlight& newest) {
  auto last = in_flight.before_begin();
  for (auto next = in_flight.begin(); next != in_flight.end(); ++next) last = next;
  in_flight.insert_after(last, newest);
}

StorageTable::StorageTable() : slots_(1) {}  // slot 0 is "nothing"

std::uint32_t StorageTable::take() {
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    make_room(slots_);
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
