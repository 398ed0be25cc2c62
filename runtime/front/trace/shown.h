/// \file
/// What show() saw of a tensor: enough for some lines of a report, never all of it. Plain data, shared with grading.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "front/trace/event.h"
#include "front/trace/memory_use.h"
#include "shardlings/tensor.h"

namespace shardlings::front {

/// Some elements of one row.
struct ShownRow {
  Count row = 0;
  std::vector<float> values;  ///< the first and the last ones, if there are more columns than these
  /// Bit by bit, since NaN is to equal NaN.
  bool operator==(const ShownRow& other) const;
};

/// One show of one rank.
struct Shown {
  static constexpr std::size_t kLongestLabel = 80, kLongestFile = 80;  ///< bytes
  static constexpr int kFirstRows = 2, kLastRows = 1;
  static constexpr int kFirstColumns = 4, kLastColumns = 2;

  std::string label;  ///< the learner's; may be empty
  std::string file;
  int line = 0;
  bool there = true;  ///< false: moved from, used up or never allocated; nothing below has a meaning then
  Shape shape;
  DType dtype = DType::f32;
  Kind kind = Kind::other;
  Memory memory = Memory::device;
  std::int32_t layer = -1, micro = -1;  ///< what the data are about; -1: none
  // Of all elements, and below of the finite ones
  Count nan = 0;
  Count infinite = 0;
  double min = 0, max = 0, mean = 0, norm = 0;
  std::vector<ShownRow> rows;  ///< the first and the last ones

  bool operator==(const Shown&) const = default;
  Count finite() const { return shape.size() - nan - infinite; }
};

/// The shows of one rank in the order of its program.
struct Shows {
  static constexpr std::size_t kMost = 32;

  std::vector<Shown> kept;
  std::int64_t left_out = 0;  ///< those after the first kMost
};

/// Fills in what is seen of the elements of a tensor of `shown`'s shape.
void look_at(std::span<const float> elements, Shown& shown);

}  // namespace shardlings::front
