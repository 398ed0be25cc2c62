/// \file
/// The rule by which a router gives tokens to experts (puzzle 26), and with the mistakes that are known.
#pragma once

#include <vector>

#include "shardlings/tensor.h"

namespace shardlings::grading::formulas {

/// What a router might do with scores instead of the rule.
struct RoutingRule {
  bool best = true;              ///< false: the lowest scores
  bool ties_to_lower = true;     ///< of equal scores the expert with the lower number
  bool choice_by_choice = true;  ///< all first choices, then all second ones; false: token by token
  bool drops = true;             ///< false: experts take all rows
  bool goes_on_to_next = false;  ///< where an expert is full, to the best one that is not
  bool one_capacity = true;      ///< false: each choice has the capacity for itself
  bool last_first = false;       ///< the last token first
  Count more_room = 0;           ///< experts take so many rows more than their capacity
};

/// The experts of token t by its scores, the first choice first.
std::vector<int> ranked(const std::vector<float>& scores, int experts, Count t, const RoutingRule& rule);

/// (T, k): the expert of each choice of each token, kNobody where it is full. Top k (Shazeer et al. 2017, section 2.1);
/// all first choices before any second one (Lepikhin et al. 2021, algorithm 1).
std::vector<int> routes_of(const std::vector<float>& scores, int experts, int k, Count capacity,
                           const RoutingRule& rule = {});

}  // namespace shardlings::grading::formulas
