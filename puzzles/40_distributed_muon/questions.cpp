// What is asked about dealing matrices to ranks, before the puzzle and after the pass.

#include "costs.h"
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

SHARDLINGS_PREDICTIONS("3 ranks") {
  const Case& kase = predict.kase();
  const Costs cost = costs(kase);
  const MuonMatrix first = muon_matrices(kase).front();
  const Formula<Count> n = named("N", Count(kase.ranks));
  const Formula<Bytes> gradients = named("gradients", Bytes(sum_of_bytes(kase)));
  const Formula<Flops> all = named("all matrices", Flops(sum_of(cost)));
  const auto busiest_if = [&](const Costs& weight) {
    const Deal owner = dealt_to_least(weight, costliest_first(weight), kase.ranks);
    return named("busiest rank", Flops(busiest(cost, owner, kase.ranks)));
  };
  predict
      .number("first", "How many floating-point operations in products does it take to orthogonalize matrix 0?",
              named("5 (4 k k n + 2 k k k)", Flops(first.flops())))
      .unlike(named("squares of the larger side", Flops(first.flops_with(first.large()))),
              "(x xT) x is x (xT x): one of the two squares is smaller.")
      .unlike(named("one round", Flops(first.flops() / kMuonRounds)), "There are five rounds.");
  predict
      .number("busiest", "How many of them has the busiest rank, if the matrices are dealt as well as possible?",
              named("best deal", Flops(busiest_of_best_deal(cost, kase.ranks))))
      .unlike(busiest_if(of_each(kase, [](const MuonMatrix& matrix) { return matrix.size(); })),
              "Twice as many elements are not twice as many operations.")
      .unlike(all, "That is on one rank.");
  predict.number("sent", "How many bytes do all ranks together send in the step?", 2 * (folded(n - 1) * gradients))
      .unlike(3 * (folded(n - 1) * gradients), "One rank needs the mean: an all-reduce gives it to all of them.")
      .unlike(folded(n - 1) * gradients, "The gradients go there, and something has to come back.");
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
