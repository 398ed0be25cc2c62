#include "front/model/saved_table.h"

#include <algorithm>
#include <utility>

#include "base/make_room.h"

namespace shardlings::front {

namespace {

constexpr int kSlotBits = 32;

std::size_t slot_of(std::uint64_t id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace

std::uint64_t SavedTable::insert(SavedEntry entry) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    make_room(slots_);
    slots_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  Slot& slot = slots_[place];
  slot.entry = std::move(entry);
  slot.alive = true;
  peak_ = std::max(peak_, ++alive_);
  return (std::uint64_t{++slot.generation} << kSlotBits) | place;
}

bool SavedTable::contains(std::uint64_t id) const {
  const std::size_t place = slot_of(id);
  return place < slots_.size() && slots_[place].alive && slots_[place].generation == id >> kSlotBits;
}

const SavedEntry& SavedTable::look(std::uint64_t id) const {
  return slots_[slot_of(id)].entry;
}

SavedEntry SavedTable::take(std::uint64_t id) {
  if (!contains(id)) return {};
  Slot& slot = slots_[slot_of(id)];
  slot.alive = false;
  --alive_;
  free_.push_back(static_cast<std::uint32_t>(slot_of(id)));
  return std::exchange(slot.entry, {});
}

}  // namespace shardlings::front
