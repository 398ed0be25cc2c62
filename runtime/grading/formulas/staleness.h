/// \file
/// What staleness does to training on a quadratic (puzzle 30).
#pragma once

#include <cmath>
#include <numbers>

namespace shardlings::grading::formulas {

/// The smallest a at which w(t+1) = w(t) - a w(t-staleness) does not converge, where a is the learning rate times the
/// curvature: the first root of z^(s+1) - z^s + a that leaves the unit circle, as a grows, does so there.
inline double divergence_threshold(int staleness) {
  return 2 * std::sin(std::numbers::pi / (2 * (2 * staleness + 1)));
}

}  // namespace shardlings::grading::formulas
