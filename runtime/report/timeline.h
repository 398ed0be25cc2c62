/// \file
/// The picture of a run as cells: which column of which row shows what. Pure functions of traces; what a cell looks
/// like is the drawer's affair (timeline_text.h).
#pragma once

#include <string>
#include <vector>

#include "report/blocks.h"

namespace shardlings::report {

/// One column of a row: a share of virtual time.
struct Cell {
  Paint paint = Paint::idle;
  int hue = -1;         ///< of the block
  char digit = 0;       ///< of a number written into the block; 0: none
  bool begins = false;  ///< a block begins here that the eye could not tell from the one before it
  bool operator==(const Cell&) const = default;
};

/// What one lane of a rank did.
struct Row {
  int rank = 0;
  front::Lane lane = front::Lane::compute;
  std::vector<Cell> cells;
};

struct Timeline {
  std::vector<Row> rows;  ///< as the lanes of RunBlocks
  std::vector<Row> goal;  ///< those of the goal
  Numbering numbering = Numbering::none;
  Colouring colouring = Colouring::none;
  Nanos end;  ///< of the latest rank, of the goal's, too
  int columns = 0;
  /// Every column is an equal share of time, without a block ending inside one: lengths can be compared by counting.
  bool exact = false;
};

/// Lays out the traces in at most `columns` columns, fewer where that makes every column the same span of time.
/// Time in which the program waits stays idle. A block too short for a column gets one where the lane would be idle
/// otherwise. `goal`: traces of as many ranks to compare with, or none; they get the same columns and colours.
Timeline lay_out(const std::vector<front::RankTrace>& traces, int columns,
                 const std::vector<front::RankTrace>& goal = {});

/// Ranks first to last whose rows show the same.
struct RankRange {
  int first = 0;
  int last = 0;
};
/// Neighbouring ranks that show the same, as ranges in order. `strips`: what else is shown of each rank; may be empty.
std::vector<RankRange> equal_ranks(const Timeline& timeline, const std::vector<std::string>& strips = {});

}  // namespace shardlings::report
