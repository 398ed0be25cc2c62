/// \file
/// The picture of a run as lines of text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "report/rank_choice.h"
#include "report/style.h"

namespace shardlings::report {

/// Whose memory is drawn over time.
enum class MemoryRows : std::uint8_t {
  none,
  worst,            ///< a strip below the rank with the highest peak
  strips,           ///< a strip below each rank, the budget's line above that of the highest peak
  strips_and_lines  ///< both for each rank
};

struct TimelineText {
  int width = 80;     ///< columns of the terminal
  std::string title;  ///< the line above the picture
  int most_ranks =
      kMostRankRows;  ///< of more ranks (or neighbours that share rows) only the most interesting are shown
  MemoryRows memory = MemoryRows::strips_and_lines;
  bool legend = true;
  bool figures = true;  ///< when it ends, and the summary; without where the reader is to work them out
  /// The goal of the same case, on the same axis: a row below each of the run's own. nullptr: none.
  const grading::verdict::CaseVerdict* goal = nullptr;
};

/// Ranks as rows (neighbours that show the same share theirs), a row for each of their lanes, blocks in virtual time,
/// memory with its budget, and one summary. Without traces the summary alone; nothing if there are no counters.
std::vector<std::string> timeline_lines(const grading::verdict::CaseVerdict& kase, const Style& style,
                                        const TimelineText& options);

}  // namespace shardlings::report
