/// \file
/// The picture of a run as cells: which column of which row shows what. Pure functions of traces and counters; what a
/// cell looks like is the drawer's affair (timeline_text.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "front/trace/event.h"

namespace shardlings::report {

/// What a cell shows.
enum class Paint : std::uint8_t { idle, forward, backward, loss, update, operation, collective, send, recv, exchange };

/// One column of a row: a share of virtual time.
struct Cell {
  Paint paint = Paint::idle;
  char digit = 0;       ///< of a number written into the block; 0: none
  bool begins = false;  ///< a block begins here that the eye could not tell from the one before it
  bool operator==(const Cell&) const = default;
};

/// What a rank's program did, or what its links did.
struct Row {
  int rank = 0;
  bool communication = false;
  std::vector<Cell> cells;
};

/// What the numbers inside the blocks count.
enum class Numbering : std::uint8_t { none, micro_batch, layer };

struct Timeline {
  /// Rank by rank; the row of communication, if there is any, below that of the program. Where no rank computes, the
  /// rows of communication alone.
  std::vector<Row> rows;
  Numbering numbering = Numbering::none;
  Nanos end;  ///< of the latest rank
  int columns = 0;
  /// Every column is an equal share of time, without a block ending inside one: lengths can be compared by counting.
  bool exact = false;
};

/// Lays out the traces in at most `columns` columns, fewer where that makes every column the same span of time.
/// Calls of the model and operations outside of them go to the program's row, communication to its own; time in which
/// the program waits stays idle. A block too short for a column gets one where the rank would be idle otherwise.
Timeline lay_out(const std::vector<front::RankTrace>& traces, int columns);

/// Ranks first to last whose rows show the same.
struct RankRange {
  int first = 0;
  int last = 0;
};
/// Neighbouring ranks that show the same, as ranges in order.
std::vector<RankRange> equal_ranks(const Timeline& timeline);

/// The most device memory that was alive within each column, in bytes; 0 columns if nothing was recorded.
std::vector<std::int64_t> memory_curve(const front::RankTrace& trace, Nanos end, int columns);

/// A run in a few numbers.
struct Totals {
  Nanos end;
  double idle = 0;        ///< share of the ranks' time until `end` in which they did not compute
  bool computes = false;  ///< some rank did, for some time
  Nanos transfer;         ///< of all ranks, exposed and overlapped
  Nanos overlapped;
  Bytes peak;
  int peak_rank = 0;
  std::string peak_file;
  int peak_line = 0;
  Bytes sent;          ///< by all ranks
  Bytes sent_by_most;  ///< by the rank that sent most
  bool sent_equal = true;
};
Totals totals_of(const std::vector<front::Counters>& counters);

}  // namespace shardlings::report
