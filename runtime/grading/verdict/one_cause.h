/// \file
/// Which causes a verdict keeps, once its cases have come together.
#pragma once

#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::grading::verdict {

/// One cause for each check: that of the first case, in the order shown, that names one. A learner has one mistake at a
/// time, and what names it in one case may fit something else by chance in another (1 rank, Adam). There the check has
/// expected and found alone. An id without a sentence (diagnosis.h: the report has said it already) names nothing, nor
/// does a case that was not run: it stays, and is not what other cases are held to.
void keep_one_cause(std::vector<CaseVerdict>& cases);

}  // namespace shardlings::grading::verdict
