/// \file
/// What Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks") makes of a momentum: the
/// judge's own computation, in plain loops.
#pragma once

#include "grading/reference/parts.h"

namespace shardlings::grading::reference {

inline constexpr int kMuonRounds = 5;

/// A matrix (rows, cols), stored row after row.
template <class Real>
Array<Real> transposed(const Array<Real>& x, Count rows, Count cols);

/// x / (its Frobenius norm).
template <class Real>
Array<Real> normalized(Array<Real> x);

/// How often a round is made, and what it is: the right way, or with a mistake.
struct MuonRounds {
  int number = kMuonRounds;
  bool normalized_in_each = false;     ///< x, before each round
  bool begins_with_normalized = true;  ///< else with m as it is
};

/// So many times x = 3.4445 x - 4.7750 (x xᵀ) x + 2.0315 (x xᵀ)² x, from the normalized m: the iteration of Newton and
/// Schulz with a polynomial of the fifth degree, which brings singular values near 1.
template <class Real>
Array<Real> orthogonalized(const Array<Real>& m, Count rows, Count cols, const MuonRounds& rounds = {});

}  // namespace shardlings::grading::reference
