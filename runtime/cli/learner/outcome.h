/// \file
/// What a graded run means for the learner: what is remembered of it, and what to do next.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/learner/course.h"
#include "cli/learner/progress.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::learner {

/// Enters a run of all cases of the learner's file, whose content had that hash when it was graded.
void remember_run(PuzzleProgress& progress, const grading::verdict::Verdict& verdict, const std::string& hash);
/// Enters a run of some cases only: it may explain a mistake, but solves nothing.
void remember_diagnoses(PuzzleProgress& progress, const grading::verdict::Verdict& verdict);

/// Whether a record is of the case as it is now, and not below what any run can come to.
bool still_holds(const CaseRecord& record, const cases::Manifest& puzzle, const std::string& name);

/// All checks that passing needs hold on all cases of the milestone.
bool passes_milestone(const grading::verdict::Verdict& verdict, const cases::Milestone& milestone);

/// Notes which milestones this run has passed, whether it was of one of them or of all cases.
void remember_milestones(PuzzleProgress& progress, const cases::Manifest& puzzle,
                         const grading::verdict::Verdict& verdict);

/// What stands below the report of a milestone: the next one, or where to find help.
std::string closing_words_of_milestone(const Context& context, const cases::Manifest& puzzle,
                                       const cases::Milestone& milestone, const grading::verdict::Verdict& verdict);

/// What stands below the report: points and the next puzzle after a pass, where to find help otherwise.
std::string closing_words(const Context& context, const Course& course, const cases::Manifest& puzzle,
                          const grading::verdict::Verdict& verdict, const Progress& progress);

}  // namespace shardlings::cli::learner
