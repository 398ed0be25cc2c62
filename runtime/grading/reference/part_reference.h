/// \file
/// The judge's own computation of a piece of a model, forward and backward, for puzzles that are about such a piece.
///
/// \code
/// const PartReference mlp = part_reference(inputs, [&]<class Real>() {
///   Parts<Real> parts;
///   parts.push_back(make_linear<Real>(in, middle, 0, in * middle));
///   parts.push_back(make_gelu<Real>());
///   return make_sequence<Real>(std::move(parts));
/// });
/// \endcode
#pragma once

#include <cstdint>
#include <vector>

#include "grading/reference/noise.h"
#include "grading/reference/parts.h"

namespace shardlings::grading::reference {

/// What goes into a piece of a model.
struct PartInputs {
  std::vector<float> weights;  ///< flat, as the piece addresses them
  std::vector<Range> tensors;  ///< the matrices and vectors in them: each gets a tolerance of its own
  std::vector<float> x;
  std::vector<float> grad_output;
};

/// What comes out, in double precision, and how far f32 arithmetic may be from it, as in Reference.
struct PartReference {
  std::vector<double> output, grad_input;
  std::vector<double> grads;  ///< as the weights
  std::vector<double> output_tolerance, grad_input_tolerance, grads_tolerance;
};

/// The same in one number type.
template <class Real>
struct PartRun {
  Array<Real> output, grad_input, grads;
};

/// Forward and backward once, with all inputs shaken.
template <class Real>
PartRun<Real> run_part(Part<Real>& part, const PartInputs& inputs, std::uint64_t shake);

PartReference with_tolerances(const PartInputs& inputs, PartRun<double> exact, const std::vector<PartRun<float>>& runs);

/// `make` builds the piece, for double and for float: a lambda with a template parameter.
template <class Make>
PartReference part_reference(const PartInputs& inputs, const Make& make) {
  std::vector<PartRun<float>> runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) {
    runs.push_back(run_part<float>(*make.template operator()<float>(), inputs, shake));
  }
  return with_tolerances(inputs, run_part<double>(*make.template operator()<double>(), inputs, 0), runs);
}

}  // namespace shardlings::grading::reference
