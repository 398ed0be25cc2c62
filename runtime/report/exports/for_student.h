/// \file
/// What a student reads of a verdict where a platform shows plain text. All of it is harmless().
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Why a check does not hold, from the first case that shows it; or for what it waits. Nothing where it holds.
std::string check_text(const grading::verdict::Verdict& verdict, const grading::verdict::CheckSummary& check);

/// A bonus that is still to be won: nothing that has failed, and so no test of a platform. overall_text() tells of it.
bool is_open_bonus(const grading::verdict::CheckSummary& check);

/// The whole verdict: its points in a line, why nothing was run where that is so, and what a pass leaves open.
std::string overall_text(const grading::verdict::Verdict& verdict);

/// The compiler's first message about a source that does not build, in a line; empty of one that does.
std::string first_of_build(const grading::verdict::Verdict& verdict);

/// Its part of the points, for platforms that know no more than all of them: 0 to 1.
double share_of_points(const grading::verdict::Verdict& verdict);

/// Of a verdict that is not judged: what happened, and that the submission is not to blame.
std::string not_judged_text(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
