/// \file
/// What a grading side keeps to itself: seeds of hidden cases, how much is told of these cases, where its files lie.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/system/project.h"
#include "grading/verdict/feedback.h"

namespace shardlings::cli::learner {

/// The secret that a file holds, as one line that says nothing of it. Throws UsageError if there is no such file, or
/// nothing in it.
std::string secret_of(const std::string& file);

/// What `--feedback law --feedback 'NAME=none'` comes to. Throws UsageError for other words, and for a name that no
/// hidden case of the puzzle has.
grading::verdict::FeedbackRules feedback_of(const cases::Manifest& puzzle, const std::vector<std::string>& arguments);

/// The verdict without paths of this machine: what lies in the project's folder is named from there.
grading::verdict::Verdict without_folders(grading::verdict::Verdict verdict, const system::Project& project);

}  // namespace shardlings::cli::learner
