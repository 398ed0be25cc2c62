/// \file
/// What an all-reduce by messages costs that goes round a ring (Patarasuk and Yuan 2009; puzzle 06): N-1 steps in which
/// parts are summed, and N-1 in which the sums go round.
#pragma once

#include <cstdint>

#include "case/case.h"
#include "grading/judge/formula.h"

namespace shardlings::grading::formulas {

/// Of a case with the numbers `elements`, of f32, and `groups`: so many groups of ranks, each with a ring of its own.
struct RingCost {
  explicit RingCost(const cases::Case& kase);

  Count elements;
  int groups;
  int members;  ///< N: ranks of a group
  std::int64_t size;
  std::int64_t longest_part, shortest_part;
  std::int64_t steps;  ///< 2 (N-1), a message of each rank in each
  Nanos alpha;         ///< latency of a message
  Nanos transfer;      ///< what the longest part takes beside it

  judge::Formula<Count> n() const;
  /// The most that a rank sends: 2 (N-1)/N of the size where parts are equal.
  judge::Formula<Bytes> sent() const;
  /// The data, and room for a part that arrives.
  judge::Formula<Bytes> peak() const;
  /// 2 (N-1) (alpha + longest part / W).
  judge::Formula<Nanos> time() const;
};

}  // namespace shardlings::grading::formulas
