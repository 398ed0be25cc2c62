/// \file
/// A verdict as Gradescope's results.json (autograder specification: score, tests, visibility, extra_data).
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// One test for each check of the puzzle, worth its points; what failed says the same as in the terminal. Checks that
/// were not judged score 0 and say for what they wait. A bonus is a test once it is won: Gradescope knows no test that
/// is neither passed nor failed. What did not build scores 0 as a whole, with the compiler's
/// words.
std::string to_gradescope(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
