/// \file
/// What Saved ids stand for: the tensors that a layer's backward needs, or after its first half the second one.
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
  [[no_unique_address]] Shape input;  ///< of the x that forward was given; what follows fills its last bytes
  /// backward_input has been here: what is left is what backward_weights needs.
  bool for_weights = false;
  DType dtype = DType::f32;  ///< of the weights, if for_weights
  /// Of the call that has saved it: then there are no tensors, but bytes that are counted. nullptr: there are.
  const Recipe* recipe = nullptr;
  /// Where that call stands; reports tell it for all that is saved, also for what an earlier call had made.
  Location at;
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
  /// Of one that it contains.
  const SavedEntry& look(std::uint64_t id) const;
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
