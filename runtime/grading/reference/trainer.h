/// \file
/// Training of a case on one device, in a number type of choice.
#pragma once

#include <cstdint>
#include <vector>

#include "case/case.h"
#include "case/data.h"
#include "grading/reference/parts.h"

namespace shardlings::grading::reference {

/// A value for each weight, by layer.
template <class Real>
using LayersOf = std::vector<Array<Real>>;

template <class Real>
struct Trained {
  Real loss = 0;                            ///< of the last step
  LayersOf<Real> grads;                     ///< of the last step
  std::vector<LayersOf<Real>> local_grads;  ///< the same of each batch's tokens alone
  LayersOf<Real> weights;                   ///< after all steps
  LayersOf<Real> m, v;                      ///< Adam's moments after all steps; zero for plain SGD
  Array<Real> norms;                        ///< of the whole gradient before clipping, by step
};

template <class Real>
LayersOf<Real> initial_weights(const cases::Case& kase);

/// Adds one micro-batch's gradients to `grads` and returns its part of the loss; `tokens` are those of the whole step.
/// `weights` are as `rounding` keeps them; without one, everything is kept as it is. With one, the sums of the
/// gradients are rounded once for the whole micro-batch.
template <class Real>
Real train_micro(const cases::Case& kase, const cases::MicroData& data, Count tokens, const LayersOf<Real>& weights,
                 LayersOf<Real>& grads, Rounding<Real>* rounding = nullptr);

/// Training from weights and inputs that differ from the case's by about one rounding of f32 each, at random by
/// `shake`; by nothing if it is 0. That shows how the case amplifies the roundings of any computation. `mixed` also
/// shakes what it rounds, see Rounding; its weights and moments are the optimizer's.
template <class Real>
Trained<Real> train(const cases::Case& kase, std::uint64_t shake = 0, Precision precision = Precision::full);

}  // namespace shardlings::grading::reference
