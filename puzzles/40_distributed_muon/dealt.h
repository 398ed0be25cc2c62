// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// How the learner has dealt what deals.h draws: for the grader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "deals.h"
#include "grading/formulas/deal.h"

namespace shardlings {

/// How one of the drawn deals came out.
struct Dealt {
  int ranks = 1;
  grading::formulas::Costs costs;
  grading::formulas::Deal owner;

  std::int64_t most() const { return grading::formulas::busiest(costs, owner, ranks); }
  std::int64_t best() const { return grading::formulas::busiest_of_best_deal(costs, ranks); }
  /// Costliest first, to rank 0, 1, …, the last one, the last one again, and back.
  std::int64_t most_of_snake() const {
    grading::formulas::Deal snake(costs.size());
    const std::vector<std::size_t> order = grading::formulas::costliest_first(costs);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int turn = static_cast<int>(i) % (2 * ranks);
      snake[order[i]] = turn < ranks ? turn : 2 * ranks - 1 - turn;
    }
    return grading::formulas::busiest(costs, snake, ranks);
  }
};

/// `owners` are those of all deals, one behind the other; a matrix costs `cost`.
inline std::vector<Dealt> dealt(const std::vector<DrawnDeal>& deals, const std::vector<float>& owners,
                                std::int64_t (*cost)(const MatrixSize&)) {
  std::vector<Dealt> all;
  std::size_t next = 0;
  for (const DrawnDeal& drawn : deals) {
    Dealt& one = all.emplace_back(Dealt{drawn.ranks, {}, {}});
    for (const MatrixSize& matrix : drawn.matrices) {
      one.costs.push_back(cost(matrix));
      one.owner.push_back(static_cast<int>(owners.at(next++)));
    }
  }
  return all;
}

/// The one that is farthest from the best deal of its matrices.
inline const Dealt& worst_of(const std::vector<Dealt>& all) {
  const auto excess = [](const Dealt& one) {
    return static_cast<double>(one.most()) / static_cast<double>(one.best());
  };
  return *std::max_element(all.begin(), all.end(),
                           [&](const Dealt& a, const Dealt& b) { return excess(a) < excess(b); });
}

inline bool all_to_and_fro(const std::vector<Dealt>& all) {
  return std::all_of(all.begin(), all.end(), [](const Dealt& one) { return one.most() == one.most_of_snake(); });
}

}  // namespace shardlings
