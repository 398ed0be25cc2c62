/// \file
/// Where a rectangle of numbers lies in a matrix.
#pragma once

#include "shardlings/shard.h"

namespace shardlings {

/// A rectangle of a matrix that need not be there as a whole anywhere.
struct MatrixPart {
  Count rows = 0, cols = 0;  ///< extents of the whole matrix
  Rectangle part;

  Count size() const { return part.rows.size() * part.cols.size(); }
  bool is_whole() const { return part == Rectangle{{0, rows}, {0, cols}}; }
  bool operator==(const MatrixPart&) const = default;
};

}  // namespace shardlings
