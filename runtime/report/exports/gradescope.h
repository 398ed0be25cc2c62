/// \file
/// A verdict as Gradescope's results.json (autograder specification: score, tests, visibility, extra_data).
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// One test for each check of the puzzle, worth its points; what failed says the same as in the terminal. Checks that
/// were not judged score 0 and say for what they wait. A bonus is a test once it is won: Gradescope knows no test that
/// is neither passed nor failed. What did not build scores 0 as a whole, with the compiler's
/// words.
std::string to_gradescope(const grading::verdict::Verdict& verdict);

/// What came of one puzzle of an assignment that has several.
struct GradescopePart {
  std::string title;                  ///< "09 Data parallel"
  grading::verdict::Verdict verdict;  ///< as the student may see it
  std::string fault;                  ///< why there is no file to judge, or several; empty: there is a verdict
  int max_points = 0;
};

/// The same of all of them together: the score is their sum. If one could not be judged there is none, so that it is no
/// grade; the text names that puzzle and says nothing of the machine, which is for the staff alone.
std::string to_gradescope(const std::vector<GradescopePart>& parts);

/// What the staff reads of such a part, in the log that students do not see: why something was not judged, the walls
/// that stood, and all that is known of each check that does not hold, hidden cases included. `whole`: the verdict
/// before anything was concealed.
std::string staff_text(const GradescopePart& part, const grading::verdict::Verdict& whole);

}  // namespace shardlings::report
