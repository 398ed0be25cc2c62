/// \file
/// The loss of a step on t x p x d ranks (puzzle 33), rank by rank.
#pragma once

#include <vector>

#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// What each rank's loss should be after one step: where the last stage is, its batch's share.
std::vector<double> losses_by_rank(const cases::Case& kase);

/// The output "loss by rank" has sums or means of what should be there: over the replicas, over each pipeline, or over
/// all ranks.
bool loss_is_reduced(const judge::CheckContext& check, const std::vector<double>& right);

}  // namespace shardlings::grading::formulas
