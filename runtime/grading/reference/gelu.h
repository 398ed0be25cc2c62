/// \file
/// GELU by its approximation with tanh (Hendrycks and Gimpel 2016, section 2), of a number: the judge's own.
#pragma once

#include <cmath>
#include <numbers>

namespace shardlings::grading::reference {

inline constexpr double kGeluCubic = 0.044715;

/// sqrt(2/π) (x + 0.044715 x³).
template <class Real>
Real gelu_inside(Real x) {
  return std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real(kGeluCubic) * x * x * x);
}

/// x/2 (1 + tanh(gelu_inside(x))).
template <class Real>
Real gelu(Real x) {
  return x / 2 * (1 + std::tanh(gelu_inside(x)));
}

/// Its derivative.
template <class Real>
Real gelu_slope(Real x) {
  const Real t = std::tanh(gelu_inside(x));
  const Real by_x = std::sqrt(2 / std::numbers::pi_v<Real>) * (1 + 3 * Real(kGeluCubic) * x * x);
  return (1 + t) / 2 + x / 2 * (1 - t * t) * by_x;
}

}  // namespace shardlings::grading::reference
