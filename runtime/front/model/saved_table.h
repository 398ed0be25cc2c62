/// \file
/// What Saved ids stand for: the tensors that a layer's backward needs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "front/trace/event.h"
#include "shardlings/tensor.h"

namespace shardlings::front {

struct SavedEntry {
  std::vector<Tensor> tensors;
  Label label;
  Shape input;  ///< of the x that forward was given
};

class SavedTable {
 public:
  std::uint64_t insert(SavedEntry entry);
  /// Removes and returns it. Empty tensors and layer -1 if the id is stale.
  SavedEntry take(std::uint64_t id);
  bool contains(std::uint64_t id) const { return entries_.contains(id); }
  std::int64_t alive() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t peak() const { return peak_; }
  void reset_peak() { peak_ = alive(); }

 private:
  std::map<std::uint64_t, SavedEntry> entries_;
  std::uint64_t next_ = 1;
  std::int64_t peak_ = 0;
};

}  // namespace shardlings::front
