/// \file
/// What Saved ids stand for: the tensors that a layer's backward needs.
#pragma once

#include <cstdint>
#include <vector>

#include "front/trace/event.h"
#include "shardlings/tensor.h"

namespace shardlings::front {

struct Recipe;

struct SavedEntry {
  std::vector<Tensor> tensors;
  Label label;
  Shape input;  ///< of the x that forward was given
  /// Of the forward that has saved it: then there are no tensors, but bytes that are counted. nullptr: there are.
  const Recipe* recipe = nullptr;
  Location at;  ///< where that forward stands
};

class SavedTable {
 public:
  std::uint64_t insert(SavedEntry entry);
  /// Removes and returns it. Empty tensors and layer -1 if the id is stale.
  SavedEntry take(std::uint64_t id);
  /// Of all that are there.
  template <class F>
  void for_each(F f) {
    for (Slot& slot : slots_) {
      if (slot.alive) f(slot.entry);
    }
  }
  bool contains(std::uint64_t id) const;
  std::int64_t alive() const { return alive_; }
  std::int64_t peak() const { return peak_; }
  void reset_peak() { peak_ = alive(); }

 private:
  /// An id is the number of a slot and how often it has been given out: a stale one is noticed.
  struct Slot {
    SavedEntry entry;
    std::uint32_t generation = 0;
    bool alive = false;
  };

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::int64_t alive_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace shardlings::front
