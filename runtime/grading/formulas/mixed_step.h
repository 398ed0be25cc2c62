/// \file
/// One training step in 16 bits from weights that a run itself has had: what it should leave. Where weights are rounded
/// coarsely before a step, a number that an earlier step has rounded the other way would make another code, and the
/// judge's own training of several steps would say nothing.
#pragma once

#include <vector>

#include "case/case.h"
#include "grading/reference/reference.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {

/// The gradient of a step with one micro-batch for each rank, and each rank's share of the loss.
template <class Real>
struct MixedGradient {
  reference::LayersOf<Real> sum;                 ///< as a reduction leaves it: rounded once more
  std::vector<reference::LayersOf<Real>> local;  ///< of each rank's tokens
  std::vector<Real> losses;
};

/// With these weights, which are as layers see them: nothing rounds them any more. `shake`: see reference::Rounding.
template <class Real>
MixedGradient<Real> mixed_gradient(const cases::Case& kase, const reference::Layers& weights, std::uint64_t shake = 0);

/// In ten-thousandths. Another machine may round a few numbers to the other side, and has a distance that is one more
/// or less then. What is written down of distances goes in steps of this many, so that machines mostly agree: where a
/// distance lies beside a step's end they may not.
inline constexpr Count kNoiseStep = 15;

/// A step in double precision, and how far careful computations may be from it: tolerances are those of
/// reference::train_reference().
struct MixedStep {
  MixedGradient<double> exact;
  reference::Layers tolerance;
  std::vector<double> loss_tolerance;
  Count noise = 0;  ///< the largest distance() of the careful computations, rounded up to a step
};
MixedStep mixed_step(const cases::Case& kase, const reference::Layers& weights);

/// The Euclidean distance of a gradient from another, in ten-thousandths of the other's length. Roundings average out
/// in it, so that it tells weights in 8 bits from weights in 16, which no single element does. Both have the same
/// sizes.
template <class Real>
Count distance(const reference::LayersOf<Real>& found, const reference::Layers& exact);

/// What plain SGD in f32 makes of weights and a gradient that a run has had: two roundings lie in between.
struct SgdStep {
  reference::Layers weights, tolerance;
};
SgdStep sgd_step(const cases::Case& kase, const reference::Layers& weights, const reference::Layers& grads);

}  // namespace shardlings::grading::formulas
