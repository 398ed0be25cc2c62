/// \file
/// The picture of a run as lines of text.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict.h"
#include "report/style.h"

namespace shardlings::report {

struct TimelineText {
  int width = 80;       ///< columns of the terminal
  std::string title;    ///< the line above the picture
  int join_above = 4;   ///< ranks; with more, neighbours that show the same share their rows
  int most_ranks = 16;  ///< ranks (or such neighbours) shown; of more, those in the middle are left out
  int memory_rows = 2;  ///< height of the memory curve
  bool legend = true;
};

/// Ranks as rows, blocks in virtual time, the memory curve of the rank with the highest peak, and one summary.
/// Without traces the summary alone; nothing if there are no counters.
std::vector<std::string> timeline_lines(const grading::CaseVerdict& kase, const Style& style,
                                        const TimelineText& options);

/// Bytes in brief, for a summary: "9.5 KiB".
std::string brief(Bytes size);

}  // namespace shardlings::report
