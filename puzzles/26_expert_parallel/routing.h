// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What the router says of each token, and the rows of chosen experts: harness and grader have the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "shardlings/group.h"

namespace shardlings {

/// The sizes of a case. Throws std::runtime_error for experts that cannot be divided so, or chosen.
struct ExpertSizes {
  template <class Case>
  explicit ExpertSizes(const Case& of)
      : ranks(of.ranks),
        e(static_cast<int>(of.integer("e"))),
        experts(static_cast<int>(of.integer("experts"))),
        k(static_cast<int>(of.integer("chosen"))),
        hidden(of.integer("hidden")),
        fewest_tokens(of.integer("tokens")),
        uneven(of.integer("uneven")),
        skew(of.integer("skew")),
        capacity_factor(of.number("capacity_factor")),
        lowest_score(of.numbers.contains("lowest_score") ? of.integer("lowest_score") : 0),
        scores_in_one(of.numbers.contains("scores_in_one") ? of.integer("scores_in_one") : 8),
        seed(of.seed) {
    if (e < 1 || ranks % e != 0 || experts % e != 0) {
      throw std::runtime_error("e = " + std::to_string(e) + " has to divide the " + std::to_string(ranks) +
                               " ranks and the " + std::to_string(experts) + " experts");
    }
    if (k < 1 || k > experts) {
      throw std::runtime_error("a token cannot choose " + std::to_string(k) + " of " + std::to_string(experts) +
                               " experts");
    }
  }

  int replicas() const { return ranks / e; }
  int experts_of_rank() const { return experts / e; }
  /// T. With `uneven` the ranks have different numbers of tokens.
  Count tokens(int rank) const { return fewest_tokens + uneven * (rank * 5 % 4); }
  /// Tokens of all ranks before this one.
  Count first_token(int rank) const {
    Count first = 0;
    for (int r = 0; r < rank; ++r) first += tokens(r);
    return first;
  }
  /// cf k T / E, rounded up: of one rank's tokens for one expert (Fedus et al. 2022, equation 3, with k choices).
  Count capacity(int rank) const {
    const double even = static_cast<double>(k * tokens(rank)) / experts;
    return static_cast<Count>(std::ceil(capacity_factor * even - 1e-9));
  }

  int ranks, e, experts, k;
  Count hidden, fewest_tokens, uneven, skew;
  double capacity_factor;
  Count lowest_score, scores_in_one;
  std::uint64_t seed;
};

/// (T, E), row by row. They are multiples of 1/scores_in_one, 1/8 if the case does not say, so that some are equal;
/// with `skew` some experts are favourites. None is below lowest_score / scores_in_one.
inline std::vector<float> scores_of(const ExpertSizes& sizes, int rank) {
  constexpr std::uint64_t kStream = 26;
  constexpr std::uint32_t kValues = 24;
  const auto numbers = static_cast<std::size_t>(sizes.tokens(rank) * sizes.experts);
  std::vector<float> scores(numbers);
  for (std::size_t i = 0; i < numbers; ++i) {
    const auto expert = static_cast<Count>(i) % sizes.experts;
    const Count favour = sizes.skew * (sizes.experts - 1 - 3 * expert % sizes.experts) / sizes.experts;
    const std::uint64_t at = static_cast<std::uint64_t>(rank) << 32U | i;
    const Count drawn = below_at(kValues, sizes.seed, at, kStream) + favour + sizes.lowest_score;
    scores[i] = static_cast<float>(drawn) / static_cast<float>(sizes.scores_in_one);
  }
  return scores;
}

/// A token on its way to an expert.
struct RoutedRow {
  int expert = 0;
  std::int32_t token = 0;
  float factor = 0;  ///< the softmax of the scores of the token's k choices (Jiang et al. 2024, section 2.1)
};

/// Rows of one rank, by expert, then by token. `routes` may be any that name experts.
inline std::vector<RoutedRow> rows_of(const ExpertSizes& sizes, int rank, const std::vector<int>& routes) {
  const std::vector<float> scores = scores_of(sizes, rank);
  const int k = sizes.k;
  std::vector<RoutedRow> rows;
  for (Count t = 0; t < sizes.tokens(rank); ++t) {
    const float* const score = scores.data() + t * sizes.experts;
    std::vector<float> best(static_cast<std::size_t>(k));
    std::partial_sort_copy(score, score + sizes.experts, best.begin(), best.end(), std::greater<>());
    float sum = 0;
    for (const float chosen : best) sum += std::exp(chosen);
    for (int j = 0; j < k; ++j) {
      const int expert = routes[static_cast<std::size_t>(t * k + j)];
      if (expert != kNobody) rows.push_back({expert, static_cast<std::int32_t>(t), std::exp(score[expert]) / sum});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RoutedRow& a, const RoutedRow& b) { return a.expert < b.expert; });
  return rows;
}

/// Rows for each expert.
inline std::vector<Count> counts_of(int experts, const std::vector<RoutedRow>& rows) {
  std::vector<Count> counts(static_cast<std::size_t>(experts));
  for (const RoutedRow& row : rows) ++counts[static_cast<std::size_t>(row.expert)];
  return counts;
}

/// Which of the case's normal numbers is which.
enum class ExpertDrawn : int { weights = 0, x = 10'000, grad_y = 20'000 };
inline int which(ExpertDrawn drawn, int number) {
  return static_cast<int>(drawn) + number;
}

}  // namespace shardlings
