/// \file
/// A verdict as validation_results.json of a custom validator of Submitty (Submitty pull requests 5183 and 5293).
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// `data.score` is the share of the points, from 0 to 1, with a message for the whole and one for each check that does
/// not hold. What could not be judged has no data: Submitty then reports a failure of the validator.
std::string to_submitty(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
