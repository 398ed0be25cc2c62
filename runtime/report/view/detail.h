/// \file
/// Levels of detail: a lane of thousands of events as a few hundred segments, for a timeline that shows all of it.
#pragma once

#include <cstdint>
#include <vector>

#include "report/blocks.h"

namespace shardlings::report {

/// What of an event the eye sees from afar.
struct Mark {
  std::int64_t begin = 0, end = 0;  ///< ns
  Paint paint = Paint::idle;
  int hue = -1;
};

/// Neighbouring bins of time in which the same prevails.
struct Segment {
  int begin = 0, length = 0;  ///< bins
  Paint paint = Paint::idle;  ///< what takes most of the time
  int hue = -1;
  int cover = 0;  ///< how much of the bins is covered, in parts of kFullCover; at least 1
  bool operator==(const Segment&) const = default;
};
inline constexpr int kFullCover = 16;

/// A lane in `bins` equal shares of the time until `end`. Bins in which nothing is are in no segment; one in which
/// something is always belongs to one, however short it is. Marks are in order of begin; idle ones do not count.
std::vector<Segment> segments_of(const std::vector<Mark>& marks, std::int64_t end, int bins);

/// The numbers of bins that are worth having for a lane of so many marks, coarse to fine.
std::vector<int> levels_for(std::size_t marks);

}  // namespace shardlings::report
