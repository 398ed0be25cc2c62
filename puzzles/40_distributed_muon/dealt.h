// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// How the learner has dealt matrices, those of a case or those that deals.h draws, and by which rule: for the grader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "deals.h"
#include "grading/formulas/deal.h"

namespace shardlings {

/// How a deal came out.
struct Dealt {
  int ranks = 1;
  std::vector<MatrixSize> matrices;
  grading::formulas::Costs costs;
  grading::formulas::Deal owner;

  std::int64_t most() const { return grading::formulas::busiest(costs, owner, ranks); }
  std::int64_t best() const { return grading::formulas::busiest_of_best_deal(costs, ranks); }
};

/// `owners` are those of all deals, one behind the other; a matrix costs `cost`.
inline std::vector<Dealt> dealt(const std::vector<DrawnDeal>& deals, const std::vector<float>& owners,
                                std::int64_t (*cost)(const MatrixSize&)) {
  std::vector<Dealt> all;
  std::size_t next = 0;
  for (const DrawnDeal& drawn : deals) {
    Dealt& one = all.emplace_back(Dealt{drawn.ranks, drawn.matrices, {}, {}});
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

/// Costliest first, to rank 0, 1, …, the last one, the last one again, and back.
inline grading::formulas::Deal to_and_fro(const Dealt& one) {
  grading::formulas::Deal snake(one.costs.size());
  const std::vector<std::size_t> order = grading::formulas::costliest_first(one.costs);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int turn = static_cast<int>(i) % (2 * one.ranks);
    snake[order[i]] = turn < one.ranks ? turn : 2 * one.ranks - 1 - turn;
  }
  return snake;
}

/// Like cards.
inline grading::formulas::Deal in_turn(const Dealt& one) {
  grading::formulas::Deal turns(one.costs.size());
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i] = static_cast<int>(i) % one.ranks;
  return turns;
}

/// To the rank with least so far, by a cost that somebody believes in, the costliest first.
inline grading::formulas::Deal by_cost(const Dealt& one, std::int64_t (*cost)(const MatrixSize&)) {
  grading::formulas::Costs costs;
  for (const MatrixSize& matrix : one.matrices) costs.push_back(cost(matrix));
  return grading::formulas::dealt_to_least(costs, grading::formulas::costliest_first(costs), one.ranks);
}

/// A way to deal that is wrong, by the id of its diagnosis.
struct DealHabit {
  const char* diagnosis;
  grading::formulas::Deal (*deal)(const Dealt&);
};

inline constexpr DealHabit kDealHabits[] = {
    {"dealt_by_number", in_turn},
    {"dealt_to_and_fro", to_and_fro},
    {"dealt_in_given_order",
     [](const Dealt& one) {
       return grading::formulas::dealt_to_least(one.costs, grading::formulas::given_order(one.costs.size()), one.ranks);
     }},
    {"dealt_cheapest_first",
     [](const Dealt& one) {
       std::vector<std::size_t> order = grading::formulas::given_order(one.costs.size());
       std::ranges::stable_sort(order, {}, [&](std::size_t i) { return one.costs[i]; });
       return grading::formulas::dealt_to_least(one.costs, order, one.ranks);
     }},
    {"dealt_by_size",
     [](const Dealt& one) { return by_cost(one, [](const MatrixSize& of) { return of.rows * of.cols; }); }},
    {"dealt_by_rows",
     [](const Dealt& one) {
       return by_cost(one, [](const MatrixSize& of) { return of.rows * of.rows * (4 * of.cols + 2 * of.rows); });
     }},
};

/// The id of the one way to deal by which the busiest rank has as much as the learner's, in all of these deals; nullptr
/// if none has, or several have.
inline const char* habit_behind(const std::vector<Dealt>& all) {
  const char* found = nullptr;
  for (const DealHabit& habit : kDealHabits) {
    const bool explains = std::ranges::all_of(all, [&](const Dealt& one) {
      return one.most() == grading::formulas::busiest(one.costs, habit.deal(one), one.ranks);
    });
    if (!explains) continue;
    if (found != nullptr) return nullptr;
    found = habit.diagnosis;
  }
  return found;
}

}  // namespace shardlings
