#include "grading/reference/part_reference.h"

#include <algorithm>
#include <utility>

namespace shardlings::grading::reference {
namespace {

using Run = PartRun<float>;

std::vector<const std::vector<float>*> picked(const std::vector<Run>& runs, std::vector<float> Run::*values) {
  std::vector<const std::vector<float>*> tensors;
  tensors.reserve(runs.size());
  for (const Run& run : runs) tensors.push_back(&(run.*values));
  return tensors;
}

/// Inputs in another number type, shaken.
template <class Real>
Array<Real> shaken(const std::vector<float>& numbers, std::uint64_t shake, std::uint64_t stream) {
  Array<Real> result(numbers.begin(), numbers.end());
  shake_all(result, shake, stream);
  return result;
}

}  // namespace

template <class Real>
PartRun<Real> run_part(Part<Real>& part, const PartInputs& inputs, std::uint64_t shake) {
  const Array<Real> weights = shaken<Real>(inputs.weights, shake, 0);
  PartRun<Real> run;
  run.grads.assign(weights.size(), Real(0));
  run.output = part.forward(weights, shaken<Real>(inputs.x, shake, 1));
  run.grad_input = part.backward(weights, shaken<Real>(inputs.grad_output, shake, 2), run.grads);
  return run;
}

PartReference with_tolerances(const PartInputs& inputs, PartRun<double> exact, const std::vector<Run>& runs) {
  PartReference result;
  result.output_tolerance = tolerances_of(exact.output, picked(runs, &Run::output));
  result.grad_input_tolerance = tolerances_of(exact.grad_input, picked(runs, &Run::grad_input));
  result.grads_tolerance.resize(exact.grads.size());
  const auto grads = picked(runs, &Run::grads);
  for (const Range& tensor : inputs.tensors) {
    std::fill(result.grads_tolerance.begin() + tensor.begin, result.grads_tolerance.begin() + tensor.end,
              tolerance_of(exact.grads, grads, tensor));
  }
  result.output = std::move(exact.output);
  result.grad_input = std::move(exact.grad_input);
  result.grads = std::move(exact.grads);
  return result;
}

template PartRun<float> run_part<float>(Part<float>&, const PartInputs&, std::uint64_t);
template PartRun<double> run_part<double>(Part<double>&, const PartInputs&, std::uint64_t);

}  // namespace shardlings::grading::reference
