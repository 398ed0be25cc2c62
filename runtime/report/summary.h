/// \file
/// A run in one line: time, bubble, overlap, peak, bytes sent.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "report/style.h"
#include "report/totals.h"

namespace shardlings::report {

/// Bytes in brief: "9.5 KiB".
std::string brief(Bytes size);

/// One line in the longest form that fits into `width` (more lines if none does), then, dim, where the peak was
/// reached, with `note`. Nothing if there are no counters.
std::vector<std::string> summary_lines(const grading::verdict::CaseVerdict& kase, const Totals& totals,
                                       const Style& style, int width, const std::string& note);

}  // namespace shardlings::report
