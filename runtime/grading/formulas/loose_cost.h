/// \file
/// What ranks send and wait for that meet seldom (puzzle 31), or send the largest elements alone (puzzle 32).
#pragma once

#include <algorithm>

#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

/// By each worker, in rounds of an all-reduce of so many weights.
inline judge::Formula<Bytes> rounds_sent(Count rounds, Bytes weights, int ranks) {
  const judge::Formula<Count> share = share_of_others(judge::named("N", Count(ranks)));
  return judge::named("rounds", rounds) * (2 * share * judge::named("weights", weights));
}

/// What is left to wait for in all rounds, each of a sum that takes `sum` and has tau steps to travel.
inline judge::Formula<Nanos> rounds_exposed(Count rounds, Nanos sum, int tau, Nanos step) {
  const Nanos left = std::max(Nanos(0), sum - tau * step);
  return judge::named("rounds", rounds) * judge::named("what tau steps do not hide of a sum", left);
}

/// By each rank, of k values and k places that go to all others, 4 bytes each.
inline judge::Formula<Bytes> largest_sent(Count k, int ranks) {
  const judge::Formula<Count> others = folded(judge::named("N", Count(ranks)) - 1);
  return others * (judge::named("k", k) * judge::Formula<Bytes>(Bytes(2 * judge::kBytesOfF32)));
}

/// The k from which on that is as much as an all-reduce of all n elements.
inline judge::Formula<Count> largest_even(Count n, int ranks) {
  return judge::named("n", n) / judge::named("N", Count(ranks));
}

}  // namespace shardlings::grading::formulas
