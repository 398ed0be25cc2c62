// How the learner has dealt what deals.h draws: for the grader.
#pragma once

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

}  // namespace shardlings
