/// \file
/// The texts that one rank's calls name by numbers: files of its source, names of its groups and outputs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/call.h"

namespace shardlings::front {

class Texts {
 public:
  /// So the other side of the cut cannot fill this side's memory with them.
  static constexpr std::size_t kLongest = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 22U;

  /// The number of a text, the same for equal ones, never 0; 0 for one that is empty or for which there is no room.
  detail::TextId define(std::string_view text);
  bool has(detail::TextId id) const { return id < pointers_.size(); }
  /// Stays where it is as long as somebody has all(). `id` is one of this table.
  const char* text(detail::TextId id) const { return pointers_[id]; }
  /// For what outlives the rank: a Location points at the name of its file.
  std::shared_ptr<const std::deque<std::string>> all() const { return texts_; }

 private:
  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>(1);  // 0: the empty one
  std::vector<const char*> pointers_{""};  ///< of each, since every call asks for one
  std::unordered_map<std::string_view, detail::TextId> ids_;
  std::size_t bytes_ = 0;
};

}  // namespace shardlings::front
