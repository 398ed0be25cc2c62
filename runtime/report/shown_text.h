/// \file
/// What the learner's code has shown on one case, as text: some lines for each show.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "report/style.h"

namespace shardlings::report {

struct ShownText {
  int width = 80;
  int most = 8;  ///< shows of one case, and then how many follow; 0: all
};

/// Lines without line ends; none if nothing was shown.
std::vector<std::string> shown_lines(const grading::verdict::CaseVerdict& kase, const Style& style,
                                     const ShownText& how);

}  // namespace shardlings::report
