/// \file
/// Which of a verdict's cases deserves to be shown.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// The check of that id where it failed on this case; nullptr if it did not.
const grading::verdict::CheckVerdict* failed_check(const grading::verdict::CaseVerdict& kase, const std::string& id);

/// The run did not come to its end, and what the check found is the beginning of why.
bool repeats_explanation(const grading::verdict::CaseVerdict& kase, const grading::verdict::CheckVerdict& check);

/// The first case on which a check failed, if it left counters. After a pass the most telling one: the first that the
/// lesson announces, in which time passes, with several ranks and several micro-batches where there are such.
/// nullptr if no case left counters.
const grading::verdict::CaseVerdict* case_to_show(const grading::verdict::Verdict& verdict);

/// Whose shows a short report lists: case_to_show()'s, or those of the first case that has any. nullptr if none has.
const grading::verdict::CaseVerdict* case_with_shows(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
