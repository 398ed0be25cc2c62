/// \file
/// Questions about the learner's own last run, judged by its trace and counters: who can answer them has read it.
#pragma once

#include <vector>

#include "grading/verdict/prediction.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::learner {

/// Two or three questions about the course of a case, each with one right answer in its trace; none if it left none.
std::vector<grading::verdict::Question> questions_about(const grading::verdict::CaseVerdict& kase);

}  // namespace shardlings::cli::learner
