/// \file
/// How often a run should save that is killed at random (puzzle 35).
#pragma once

#include <cmath>

namespace shardlings::grading::formulas {

/// The time of training between two saves that loses the least, in the unit of both: sqrt(2 save mean), where `mean` is
/// the time between two deaths on average (Young 1974). Right as long as a save takes much less than that.
inline double youngs_interval(double save, double mean) {
  return std::sqrt(2 * save * mean);
}

}  // namespace shardlings::grading::formulas
