/// \file
/// The events of a run as columns, lane by lane, in order of time; what a page draws its timeline from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/blocks.h"
#include "report/view/packed.h"

namespace shardlings::report {

/// Consecutive entries of the columns.
struct ColumnRange {
  std::size_t first = 0, count = 0;
};

/// A coarser picture of a lane: some of the columns of segments.
struct PackedLevel {
  int bins = 0;
  ColumnRange segments;
};

struct PackedLane {
  int rank = 0;
  front::Lane lane = front::Lane::compute;
  bool inside = false;  ///< operations inside of calls of the model: shown within the calls' blocks
  int rows = 1;         ///< events that overlap lie in rows of their own
  ColumnRange events;
  std::vector<PackedLevel> levels;
};

struct PackedLanes {
  std::vector<PackedLane> lanes;
  std::vector<std::string> names, files, groups;  ///< what columns of numbers refer to
  std::vector<std::vector<int>> members;          ///< of each group; empty where they are not known
  PackedColumns columns;
};

/// The program of every rank, unless nobody computes, and each other lane that was used. Waiting is in there, too.
PackedLanes packed_lanes(const std::vector<front::RankTrace>& traces, const Looks& looks, Nanos end);

}  // namespace shardlings::report
