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
  int given = 0;                        ///< hints given, this one included
  int total = 0;
};

/// First what speaks to a mistake of the last run and was not given yet; then the general hints in their order; last
/// those that speak to other mistakes.
Rung next_rung(const grading::Manifest& puzzle, const PuzzleProgress& progress);

bool was_given(const PuzzleProgress& progress, const grading::Hint& hint);
/// Notes that the hint was given.
void give(PuzzleProgress& progress, const grading::Hint& hint);

}  // namespace shardlings::cli
