/// \file
/// The run that pictures are made of.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/context.h"
#include "cli/learner/course.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::learner {

/// The puzzle of that name or, for an empty name, the one that was run last. Throws UsageError if none was.
const cases::Manifest& named_or_last_run(const Context& context, const Course& course, const std::string& name);

/// Throws UsageError if the puzzle is a question, of which there is nothing to do `what` with: "draw".
void refuse_question(const cases::Manifest& puzzle, const std::string& what);

/// The puzzle's last run, with its traces. Throws UsageError that says what to do if there is none, or if nothing of it
/// ran (it did not build).
grading::verdict::Verdict last_run(const Context& context, const cases::Manifest& puzzle);

/// Its case of that name; for an empty name the one worth showing (report/choice.h). Throws UsageError with the names.
const grading::verdict::CaseVerdict& chosen_case(const grading::verdict::Verdict& run, const std::string& name);

/// Writes a file where the user wants it, standard output for "-", and says so. Throws UsageError if it cannot.
void deliver(const Context& context, const std::string& file, const std::string& content, const std::string& what);

}  // namespace shardlings::cli::learner
