// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What the matrices of a case of puzzle 40 cost: for the grader and its questions.
#pragma once

#include <cstdint>

#include "grading/formulas/deal.h"
#include "grading/formulas/muon_cost.h"
#include "grading/formulas/sharding.h"

namespace shardlings {

/// f(matrix) of each matrix.
inline grading::formulas::Costs of_each(const cases::Case& kase, auto f) {
  grading::formulas::Costs numbers;
  for (const grading::formulas::MuonMatrix& matrix : grading::formulas::muon_matrices(kase)) {
    numbers.push_back(f(matrix));
  }
  return numbers;
}

inline grading::formulas::Costs costs(const cases::Case& kase) {
  return of_each(kase, [](const auto& matrix) { return matrix.flops(); });
}

inline std::int64_t sum_of_bytes(const cases::Case& kase) {
  return grading::formulas::sum_of(of_each(kase, [](const auto& matrix) { return matrix.bytes(); }));
}

}  // namespace shardlings
