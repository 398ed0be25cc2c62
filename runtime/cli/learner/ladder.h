/// \file
/// Which hint comes next.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/learner/progress.h"

namespace shardlings::cli::learner {

/// The next step of a puzzle's ladder.
struct Rung {
  const cases::Hint* hint = nullptr;  ///< nullptr: all were given
  std::string diagnosis;              ///< id of the last run's mistake that the hint speaks to; empty: to none
  std::string diagnosis_text;
  int given = 0;  ///< general hints given, this one included
  int total = 0;  ///< general hints that there are
};

/// First what speaks to a mistake of the last run and was not given yet; then the general hints in their order. Hints
/// on mistakes that were not made would only confuse.
Rung next_rung(const cases::Manifest& puzzle, const PuzzleProgress& progress);

bool was_given(const PuzzleProgress& progress, const cases::Hint& hint);
/// Notes that the hint was given.
void give(PuzzleProgress& progress, const cases::Hint& hint);

}  // namespace shardlings::cli::learner
