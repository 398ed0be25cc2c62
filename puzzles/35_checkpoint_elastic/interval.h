// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// A run that is killed at random, counted: how much of its time is no training, for a number of steps between two
// saves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "elastic_plan.h"
#include "grading/formulas/save_interval.h"

namespace shardlings {

/// The times between deaths, in seconds: exponential, as of machines that do not age.
inline std::vector<double> times_between(const IntervalQuestion& of, std::uint64_t seed) {
  constexpr std::uint64_t kDeaths = 20'000, kStream = 3535;
  std::vector<double> times;
  for (std::uint64_t i = 0; i < kDeaths; ++i) {
    times.push_back(-of.mean * std::log(unit_interval(random_word_at(seed, i, kStream))));
  }
  return times;
}

/// The share of all time that is spent with saving, or on steps that no checkpoint has.
inline double lost_share(const IntervalQuestion& of, const std::vector<double>& times, double steps) {
  const double work = steps * of.step;
  double all = 0, kept = 0;
  for (const double time : times) {
    all += time;
    kept += work * std::floor(time / (work + of.save));
  }
  return 1 - kept / all;
}

/// Young's interval, in steps.
inline double youngs_steps(const IntervalQuestion& of) {
  return std::max(1.0, std::round(grading::formulas::youngs_interval(of.save, of.mean) / of.step));
}

/// The least of that share, over numbers of steps from an eighth of Young's to eight times as many.
inline double least_lost_share(const IntervalQuestion& of, const std::vector<double>& times) {
  constexpr int kTries = 60;
  constexpr double kWidest = 8;
  double least = lost_share(of, times, youngs_steps(of));
  for (int i = -kTries; i <= kTries; ++i) {
    const double steps = std::round(youngs_steps(of) * std::pow(kWidest, static_cast<double>(i) / kTries));
    least = std::min(least, lost_share(of, times, std::max(1.0, steps)));
  }
  return least;
}

}  // namespace shardlings
