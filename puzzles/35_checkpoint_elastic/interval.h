// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// How much of the time of a run that is killed at random is no training, for a number of steps between two saves.
#pragma once

#include <algorithm>
#include <cmath>

#include "elastic_plan.h"
#include "grading/formulas/save_interval.h"

namespace shardlings {

/// The share of all time that is spent with saving, or on steps that no checkpoint has: the mean over deaths of
/// machines that do not age, so that the times between two of them are exponential.
inline double lost_share(const IntervalQuestion& of, double steps) {
  const double work = steps * of.step;
  const double saves = 1 / std::expm1((work + of.save) / of.mean);  // between two deaths, on average
  return 1 - saves * work / of.mean;
}

/// Young's interval, in steps.
inline double youngs_steps(const IntervalQuestion& of) {
  return std::max(1.0, std::round(grading::formulas::youngs_interval(of.save, of.mean) / of.step));
}

/// The least of that share, over numbers of steps from an eighth of Young's to eight times as many.
inline double least_lost_share(const IntervalQuestion& of) {
  constexpr int kTries = 60;
  constexpr double kWidest = 8;
  double least = lost_share(of, youngs_steps(of));
  for (int i = -kTries; i <= kTries; ++i) {
    const double steps = std::round(youngs_steps(of) * std::pow(kWidest, static_cast<double>(i) / kTries));
    least = std::min(least, lost_share(of, std::max(1.0, steps)));
  }
  return least;
}

}  // namespace shardlings
