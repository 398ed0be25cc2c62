/// \file
/// Which hint comes next.
#pragma once

#include <string>

#include "cli/progress.h"
#include "grading/manifest.h"

namespace shardlings::cli {

/// The next step of a puzzle's ladder.
struct Rung {
  const grading::Hint* hint = nullptr;  ///< nullptr: all were given
  std::string diagnosis_text;           ///< of the last run's mistake that the hint speaks to; empty: to none
  int given = 0;                        ///< general hints given, this one included
  int total = 0;                        ///< general hints that there are
};

/// First what speaks to a mistake of the last run and was not given yet; then the general hints in their order. Hints
/// on mistakes that were not made would only confuse.
Rung next_rung(const grading::Manifest& puzzle, const PuzzleProgress& progress);

bool was_given(const PuzzleProgress& progress, const grading::Hint& hint);
/// Notes that the hint was given.
void give(PuzzleProgress& progress, const grading::Hint& hint);

}  // namespace shardlings::cli
