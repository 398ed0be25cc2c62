/// \file
/// Pieces of work that cannot be divided, dealt to ranks: how good a deal is, and how good the best one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardlings::grading::formulas {

/// What each piece costs, in whatever unit.
using Costs = std::vector<std::int64_t>;
/// The rank of each piece.
using Deal = std::vector<int>;

/// What the rank has that has most. Owners are 0 to ranks-1.
std::int64_t busiest(const Costs& costs, const Deal& owner, int ranks);

/// Piece after piece, in this order, to the rank that has least so far, the first of them. With the costliest piece
/// first, the busiest rank has at most 4/3 - 1/(3 ranks) of what it has in the best deal (Graham 1969).
Deal dealt_to_least(const Costs& costs, const std::vector<std::size_t>& order, int ranks);
/// 0, 1, …, and the same with the costliest piece first.
std::vector<std::size_t> given_order(std::size_t pieces);
std::vector<std::size_t> costliest_first(const Costs& costs);

/// What the busiest rank has in the best deal there is. Tries all deals but those that cannot be better than the best
/// so far, and those that differ only by which of several ranks with as much gets a piece; ends at an equal share of
/// all. For about a dozen unequal pieces: of many more the search may take hours.
std::int64_t busiest_of_best_deal(const Costs& costs, int ranks);

}  // namespace shardlings::grading::formulas
