/// \file
/// A verdict as PrairieLearn's external grader leaves it in /grade/results/results.json
/// (PrairieLearn, docs/externalGrading.md, "Grading results").
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// `score` is the share of the points, from 0 to 1; a test stands for each check, and the timeline of the case that the
/// report would show is a picture. What does not build or could not be judged is not gradable, which costs no attempt.
/// PrairieLearn takes at most 1 MB: long texts are cut, and the picture is left out where it would be too much.
std::string to_prairielearn(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
