/// \file
/// What attention costs whose positions are divided over ranks and whose keys and values go round (Liu et al. 2023,
/// arXiv 2310.01889; puzzle 27): bytes, memory, and the time of a ring in which transfers hide behind products.
#pragma once

#include <vector>

#include "base/parts.h"
#include "case/case.h"
#include "grading/judge/formula.h"

namespace shardlings::grading::formulas {

/// What parts of attention cost on a rank of a case with the number `kv_heads`, heads of keys. The model gives width h
/// and heads. Pairs are those of a query and a key that it sees; all numbers are of the whole batch.
struct AttentionCost {
  explicit AttentionCost(const cases::Case& of);

  /// Of the two products of forward.
  Flops flops(Count pairs) const;
  /// Of the five of backward.
  Flops backward_flops(Count pairs) const;
  Nanos forward(Count pairs) const;
  Nanos backward(Count pairs) const;
  /// Joining two partial results of so many positions.
  Nanos merging(Count positions) const;
  /// Adding two gradients of the keys and values of so many positions.
  Nanos adding(Count positions) const;
  /// Keys and values of so many positions, or their gradients.
  Bytes keys(Count positions) const;
  /// One message over the case's first link.
  Nanos hop(Bytes bytes) const;

  const cases::Case& kase;
  Count batch, heads, key_heads, width, key_width;

 private:
  Nanos computing(Count operations) const;
};

/// Of a case that has the number `backward`, too: 1 if there is a backward pass. The model gives the sequence; c is the
/// number of ranks. Rank r has consecutive positions, those of rank 0 first.
struct RingAttention {
  explicit RingAttention(const cases::Case& of);

  Range positions(int rank) const { return part_of(sequence, ranks, rank); }
  /// Whose keys and values rank `rank` looks at in step `step` of a round, which begins with its own.
  int owner(int rank, int step) const { return (rank - step % ranks + ranks) % ranks; }
  /// Pairs of these queries and the keys that they see, of whichever rank.
  Count pairs(Range queries) const;
  /// Keys and values of a rank's positions, or their gradients.
  Bytes keys(int rank) const;

  judge::Formula<Count> c() const { return judge::named("c", Count(ranks)); }
  /// Keys and values of rank 0, which has most: "2 b s/c u".
  judge::Formula<Bytes> block() const;
  /// What a rank sends at most: keys and values of c-1 ranks, in backward these again and as many gradients.
  judge::Formula<Bytes> sent() const;
  /// There before the run begins, on rank 0, which has most; and what is there on top at the peak of each pass.
  judge::Formula<Bytes> given() const;
  judge::Formula<Bytes> peak() const;

  /// A rank's operations for the keys of another one, in forward or backward, and what joins the results.
  Nanos work(int rank, int of, bool back) const;
  Nanos merging(int rank) const;
  Nanos adding(int of) const;
  /// One message of a rank's keys and values.
  Nanos hop(int of) const;
  /// Operations alone of the rank that has most of them.
  Nanos computing(bool back) const;
  /// When the last rank ends: the ring of the solution, step by step, with every message started as early as it can.
  judge::Formula<Nanos> time() const;

  const cases::Case& kase;
  AttentionCost cost;
  int ranks;
  bool backward;
  Count sequence;
};

}  // namespace shardlings::grading::formulas
