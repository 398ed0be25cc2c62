/// \file
/// A run's timeline as a still picture, for slides and lessons.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// One SVG document, 960 wide: ranks as rows, a lane each for the program and for whatever else was used, memory under
/// its budget's line, a legend and the summary. Text stays text, the picture follows the reader's light or dark
/// scheme, and what a case is named cannot become markup. The same run gives the same bytes on every machine.
/// `title`: the heading; of many ranks the same are shown as in the terminal. `figures`: the end's time and the
/// summary, which a reader who is to work its numbers out does without.
std::string timeline_svg(const grading::verdict::CaseVerdict& kase, const std::string& title, bool figures = true);

}  // namespace shardlings::report
