// Matrices that the learner is asked to deal, beside those of a case: harness and grader draw the same ones.
#pragma once

#include <vector>

#include "base/random.h"
#include "base/units.h"

namespace shardlings {

struct MatrixSize {
  Count rows = 0, cols = 0;
};

struct DrawnDeal {
  int ranks = 1;
  std::vector<MatrixSize> matrices;
};

/// Few matrices, so that the best deal can be found: of several sizes, narrow ones among them, and every other time one
/// that costs about as much as all others together. Every sixth deal is of very long matrices among small squares that
/// have the same smaller side.
inline std::vector<DrawnDeal> drawn_deals(std::uint64_t seed) {
  constexpr std::uint64_t kStream = 40, kNumbers = 32;
  constexpr Count kSides[] = {8, 10, 14, 20, 28, 36};
  constexpr std::size_t kDeals = 24;
  std::vector<DrawnDeal> deals(kDeals);
  for (std::size_t i = 0; i < kDeals; ++i) {
    std::uint64_t at = i * kNumbers;
    const auto below = [&](std::uint32_t bound) { return below_at(bound, seed, at++, kStream); };
    deals[i].ranks = 2 + static_cast<int>(below(3));
    const std::uint32_t pieces = 5 + below(5);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      const Count rows = kSides[below(6)];
      deals[i].matrices.push_back({rows, below(2) == 0 ? rows : kSides[below(6)]});
    }
    if (i % 6 == 2) {  // to whoever takes them for equal, in turns, one rank gets all long ones
      const std::uint32_t long_ones = below(2) + 2;
      const Count side = kSides[below(3)];
      deals[i] = {static_cast<int>(long_ones), {}};
      for (std::uint32_t j = 0; j < long_ones * long_ones; ++j) {
        deals[i].matrices.push_back({side, j % long_ones == 0 ? 200 * side : side});
      }
      continue;
    }
    // 2 sides, 8 times the operations: as much as seven small ones.
    if (i % 2 == 1) {
      for (MatrixSize& matrix : deals[i].matrices) matrix = {14, 14};
      deals[i].matrices[below(pieces)] = {28, 28};
    }
  }
  return deals;
}

}  // namespace shardlings
