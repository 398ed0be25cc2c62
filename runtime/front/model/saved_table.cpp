#include "front/model/saved_table.h"

#include <algorithm>
#include <utility>

namespace shardlings::front {

std::uint64_t SavedTable::insert(SavedEntry entry) {
  entries_.emplace(next_, std::move(entry));
  peak_ = std::max(peak_, alive());
  return next_++;
}

SavedEntry SavedTable::take(std::uint64_t id) {
  auto node = entries_.extract(id);
  return node ? std::move(node.mapped()) : SavedEntry{};
}

}  // namespace shardlings::front
