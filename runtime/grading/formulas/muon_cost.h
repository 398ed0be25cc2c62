/// \file
/// What it costs to orthogonalize a matrix as Muon does it (Jordan et al. 2024; reference/muon.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "case/case.h"
#include "grading/judge/grader.h"
#include "grading/reference/muon.h"

namespace shardlings::grading::formulas {

/// A weight (rows, cols). Its gradient, momentum and update are as large.
struct MuonMatrix {
  Count rows = 0, cols = 0;

  Count size() const { return rows * cols; }
  Count small() const { return std::min(rows, cols); }
  Count large() const { return std::max(rows, cols); }
  std::int64_t bytes() const { return judge::kBytesOfF32 * size(); }
  /// Floating-point operations in products, with squares of this side: in each round x xᵀ (or xᵀ x), its square, and
  /// their sum times x. With k = small() and n = large(): 5 (4 k k n + 2 k k k) for k, which is the least.
  std::int64_t flops_with(Count side) const {
    return reference::kMuonRounds * (4 * size() * side + 2 * side * side * side);
  }
  std::int64_t flops() const { return flops_with(small()); }
  /// What goes with them, element by element: momentum, norm, the sums of each round and the update.
  std::int64_t other_flops() const {
    return (9 + 2 * reference::kMuonRounds) * size() + 3 * reference::kMuonRounds * small() * small();
  }
};

/// The first entry of each layer: of a perceptron the weights without biases.
inline std::vector<MuonMatrix> muon_matrices(const cases::Case& kase) {
  std::vector<MuonMatrix> matrices;
  for (const model::LayerStructure& layer : model::make_structure(kase.model).layers) {
    matrices.push_back({layer.entries.front().rows, layer.entries.front().cols});
  }
  return matrices;
}

}  // namespace shardlings::grading::formulas
