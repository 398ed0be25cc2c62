/// \file
/// Tolerances from the noise of f32 arithmetic: how far careful computations of one thing are from its double value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "shardlings/tensor.h"

namespace shardlings::grading::reference {

/// How many f32 computations show how far honest ones stray. Number 0 starts from the case's numbers, the others from
/// shaken ones.
inline constexpr std::uint64_t kRuns = 3;

/// Each number times 1 + one of -1, 0, 1 times 2^-23, at random by `shake` and `stream`; by nothing if `shake` is 0.
template <class Real>
void shake_all(std::vector<Real>& numbers, std::uint64_t shake, std::uint64_t stream) {
  for (std::size_t i = 0; shake != 0 && i < numbers.size(); ++i) {
    const int way = static_cast<int>(below_at(3, shake, i, stream)) - 1;
    numbers[i] *= 1 + Real(0x1p-23) * static_cast<Real>(way);
  }
}

/// Sixteen times the noise of these elements: the largest distance of a run from the exact numbers, and at least four
/// roundings of the largest element, and `least`. Why sixteen: reference.h.
double tolerance_of(const std::vector<double>& exact, const std::vector<const std::vector<float>*>& runs, Range range,
                    double least = 0);

/// The same of all of them, as one tolerance for each element.
std::vector<double> tolerances_of(const std::vector<double>& exact, const std::vector<const std::vector<float>*>& runs);

/// The same layer by layer, where each run has all layers.
std::vector<std::vector<double>> tolerances_of(const std::vector<std::vector<double>>& exact,
                                               const std::vector<std::vector<std::vector<float>>>& runs);

}  // namespace shardlings::grading::reference
