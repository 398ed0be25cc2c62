/// \file
/// What tests of ranks that die and of what they store have in common.
#pragma once

#include <string>
#include <vector>

#include "api/harness_calls.h"
#include "support/host.h"

namespace shardlings::contract {

/// What is measured begins on all ranks together: from here on ranks may die.
inline void begin_measured(Rank& rank) {
  rank.world().barrier();
  detail::harness::begin_measuring(rank);
}

/// Passes virtual time: the more, the more elements; tens of thousands are some microseconds.
inline void pass_time(Rank& rank, Count elements) {
  Tensor x = rank.zeros(elements, Kind::buffer);
  scale(x, 1);
}

inline void publish_counts(Rank& rank, const std::string& name, const std::vector<Count>& numbers) {
  support::publish(rank, name, support::load(rank, std::vector<float>(numbers.begin(), numbers.end())));
}

}  // namespace shardlings::contract
