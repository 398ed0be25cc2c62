// What is asked after the pass about dealing matrices to ranks.

#include "grading/formulas/deal.h"
#include "grading/formulas/muon_cost.h"
#include "grading/judge/grader.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

/// Five rounds of three products for each matrix.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  Flops all;
  for (const MuonMatrix& matrix : muon_matrices(check.kase())) all += Flops(matrix.flops());
  return named("steps", Count(check.kase().steps)) * named("5 (4 k k n + 2 k k k) of all matrices", all);
}

/// The norm of each matrix, in each step, and its division by that. That they are those of one rank says the work.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  Count elements = 0;
  const std::vector<MuonMatrix> matrices = muon_matrices(check.kase());
  for (const MuonMatrix& matrix : matrices) elements += matrix.size();
  const Count steps = check.kase().steps;
  return {{Product::add_squares, Flops(2 * steps * elements)},
          {Product::scale_by, Flops(steps * elements)},
          {Product::clip_factor, Flops(2 * steps * std::ssize(matrices))}};
}

SHARDLINGS_PREDICTIONS_AFTER("3 ranks") {
  const Costs pieces = {3, 3, 2, 2, 2};
  const Count rule = busiest(pieces, dealt_to_least(pieces, costliest_first(pieces), 2), 2);
  const Count best = busiest_of_best_deal(pieces, 2);
  predict.answer(2)
      .count("rule",
             "Two ranks, and pieces of work of 3, 3, 2, 2, 2. How much has the busiest rank, if each piece goes to the "
             "rank with least so far, the largest piece first?",
             named("busiest by the rule", rule), "units")
      .unlike(best, "That is the best deal, 3 + 3 and 2 + 2 + 2. The rule puts the two threes on different ranks.");
  predict.count("best", "And in the best deal?", named("busiest at best", best), "units")
      .unlike(rule, "That is what the rule gives. Put both threes on one rank.");
}
