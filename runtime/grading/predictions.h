/// \file
/// What a puzzle asks to be predicted, from its grader.
#pragma once

#include <string>

#include "grading/verdict/prediction.h"

namespace shardlings::grading {

/// Starts the puzzle's grader and reads its questions; nothing is built or run. No questions if it asks nothing then.
/// Throws MachineFault if the grader cannot answer, with what it said.
verdict::Predictions ask_for_predictions(const std::string& puzzle_folder, const std::string& build_folder,
                                         verdict::When when);

}  // namespace shardlings::grading
